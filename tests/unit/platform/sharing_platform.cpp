// The template of a platform, with parts of devices. It tells tests what it was asked for.
#define baton_graph_make template_make
#define baton_graph_run template_run
#include "../../../examples/platform_template/platform_template.cpp"
#undef baton_graph_make
#undef baton_graph_run

namespace {

int parts_of_last = 0;
uint64_t first_address = 0;
std::string named;

}  // namespace

extern "C" {

BATON_PLATFORM_EXPORT int sharing_device_count() { return parts_of_last; }
BATON_PLATFORM_EXPORT const char* sharing_named() { return named.c_str(); }

BATON_PLATFORM_EXPORT int baton_device_open_part(int device_id, int device_count, BatonDevice** device_out) {
  if (device_id >= device_count) return fail(out_of_range, "there is no such part");
  parts_of_last = device_count;
  return baton_device_open(0, device_out);
}

BATON_PLATFORM_EXPORT int baton_graph_make(BatonDevice* device, const BatonDeviceTask* tasks, size_t count,
                                           const uint64_t* first_predecessor, const uint32_t* predecessors,
                                           BatonDeviceGraph** graph_out) {
  first_address = tasks[0].arguments[0].address;
  return template_make(device, tasks, count, first_predecessor, predecessors, graph_out);
}

BATON_PLATFORM_EXPORT int baton_graph_run(BatonDeviceGraph* graph, const BatonRunOptions* options,
                                          uint32_t* failed_task) {
  char name[64] = "";
  options->name_address(options->context, first_address, name, sizeof name);
  named = name;
  if (options->has_lost_peers(options->context) != 0) return fail(peer_died, "nobody dies here");
  return template_run(graph, options, failed_task);
}

}  // extern "C"
