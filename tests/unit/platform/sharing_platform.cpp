// A platform with windows whose devices have parts. It tells tests what it was asked for, and does what a first scalar
// of its tasks asks for in place of running them.
#define baton_graph_make template_make
#define baton_graph_run template_run
#include "windows_platform.cpp"
#undef baton_graph_make
#undef baton_graph_run

#include <chrono>
#include <mutex>

#include "sharing_platform.hpp"

namespace {

std::mutex mutex;
int parts_of_last = 0;
std::string named;
int gave_up = 0;

struct Asked {
  uint64_t address = 0;
  int64_t scalar = 0;
};
std::map<BatonDeviceGraph*, Asked> graphs;  // what the first task has of each

}  // namespace

extern "C" {

BATON_PLATFORM_EXPORT int sharing_device_count() {
  const std::lock_guard lock(mutex);
  return parts_of_last;
}
BATON_PLATFORM_EXPORT const char* sharing_named() { return named.c_str(); }
BATON_PLATFORM_EXPORT int sharing_gave_up() {
  const std::lock_guard lock(mutex);
  return gave_up;
}

BATON_PLATFORM_EXPORT int baton_device_open_part(int device_id, int device_count, BatonDevice** device_out) {
  if (device_id >= device_count) return fail(out_of_range, "there is no such part");
  {
    const std::lock_guard lock(mutex);
    parts_of_last = device_count;
  }
  return baton_device_open(0, device_out);
}

BATON_PLATFORM_EXPORT int baton_graph_make(BatonDevice* device, const BatonDeviceTask* tasks, size_t count,
                                           const uint64_t* first_predecessor, const uint32_t* predecessors,
                                           BatonDeviceGraph** graph_out) {
  const int status = template_make(device, tasks, count, first_predecessor, predecessors, graph_out);
  if (status != 0) return status;
  const std::lock_guard lock(mutex);
  Asked& asked = graphs[*graph_out] = {};
  for (uint32_t i = 0; i < tasks[0].argument_count; ++i) {
    const BatonDeviceArgument& argument = tasks[0].arguments[i];
    if (argument.access != BATON_ARGUMENT_SCALAR) {
      asked.address = argument.address;
    } else if (asked.scalar == 0) {
      asked.scalar = static_cast<int64_t>(argument.address);
    }
  }
  return 0;
}

BATON_PLATFORM_EXPORT int baton_graph_run(BatonDeviceGraph* graph, const BatonRunOptions* options,
                                          uint32_t* failed_task) {
  Asked asked;
  {
    const std::lock_guard lock(mutex);
    asked = graphs[graph];
    char name[64] = "";
    options->name_address(options->context, asked.address, name, sizeof name);
    named = name;
  }
  *failed_task = 0;
  if (asked.scalar == kFail) return fail(kernel_fault, "it was asked to fail");
  if (asked.scalar != kWaitForLoss) return template_run(graph, options, failed_task);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::nanoseconds(options->wait_limit_ns)) {
    if (options->has_lost_peers(options->context) != 0) return fail(peer_died, "waited, but a peer died");
  }
  const std::lock_guard lock(mutex);
  ++gave_up;
  return fail(wait_timeout, "waited, and no peer died");
}

}  // extern "C"
