// A platform that takes tasks one by one: each has run when it was submitted. It tells tests what it was asked for.
#include "../../../examples/platform_template/platform_template.cpp"

#include "streaming_platform.hpp"

namespace {

std::string asked;         // the predecessors of each task, in its words
uint32_t next_number = 0;  // of the next task
bool has_failed = false;   // one of them
uint32_t failed_number = 0;
size_t begun = 0;

}  // namespace

extern "C" {

BATON_PLATFORM_EXPORT const char* streaming_asked() { return asked.c_str(); }
BATON_PLATFORM_EXPORT size_t streaming_begun() { return begun; }

BATON_PLATFORM_EXPORT int baton_stream_begin(BatonDevice*, const BatonRunOptions* options, int* takes_out) {
  *takes_out = 1;
  begun += options->extent_count != 0 ? 1 : 0;
  return 0;
}

BATON_PLATFORM_EXPORT int baton_stream_submit(BatonDevice* device, const BatonDeviceTask* task,
                                              const uint32_t* predecessors, size_t count, uint32_t* failed_task) {
  *failed_task = BATON_NO_TASK;
  const uint32_t number = next_number++;
  asked += std::to_string(number) + " after";
  for (size_t i = 0; i < count; ++i) asked += " " + std::to_string(predecessors[i]);
  asked += "\n";
  for (uint32_t i = 0; i < task->argument_count && !has_failed; ++i) {
    const BatonDeviceArgument& argument = task->arguments[i];
    if (argument.access != BATON_ARGUMENT_SCALAR || static_cast<int64_t>(argument.address) != kFailLater) continue;
    // As a device that runs it later.
    has_failed = true;
    failed_number = number;
  }
  if (has_failed) return 0;
  const uint64_t none[2] = {0, 0};
  const BatonRunOptions options{};
  BatonDeviceGraph* graph = nullptr;
  const int made = baton_graph_make(device, task, 1, none, nullptr, &graph);
  if (made != 0) return made;
  uint32_t ignored = 0;
  const int status = baton_graph_run(graph, &options, &ignored);
  static_cast<void>(baton_graph_free(graph));
  return status;
}

BATON_PLATFORM_EXPORT int baton_stream_wait(BatonDevice*, uint32_t* failed_task) {
  *failed_task = has_failed ? failed_number : BATON_NO_TASK;
  const bool fails = has_failed;
  has_failed = false;
  next_number = 0;
  return fails ? fail(kernel_fault, "it was asked to fail") : 0;
}

}  // extern "C"
