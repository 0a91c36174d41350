// A platform that takes tasks one by one: each has run when it was submitted. It tells tests what it was asked for, and
// keeps times: of each task two blocks, the second of which begins first, on a core of its own.
#define baton_device_describe template_describe
#define baton_graph_run template_run
#include "../../../examples/platform_template/platform_template.cpp"
#undef baton_device_describe
#undef baton_graph_run

#include <chrono>

#include "streaming_platform.hpp"

namespace {

std::string asked;         // the predecessors of each task, in its words
uint32_t next_number = 0;  // of the next task
bool has_failed = false;   // one of them
uint32_t failed_number = 0;
size_t begun = 0;
BatonRunOptions stream_options{};
std::vector<BatonBlockTimes> kept;  // of tasks of the stream

uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// Of a task that began then and has ended.
void keep_times(uint32_t task, uint64_t began) {
  const uint64_t ended = now_ns();
  kept.push_back({.task = task,
                  .block = 0,
                  .core = kLaterCore,
                  .reserved = 0,
                  .started = ended,
                  .returned = ended,
                  .completed = ended});
  kept.push_back({.task = task,
                  .block = 1,
                  .core = kFirstCore,
                  .reserved = 0,
                  .started = began,
                  .returned = ended,
                  .completed = ended});
}

void tell_times(const BatonRunOptions& options) {
  for (const BatonBlockTimes& times : kept) {
    if (options.note_block != nullptr) options.note_block(options.context, &times);
  }
  kept.clear();
}

}  // namespace

extern "C" {

BATON_PLATFORM_EXPORT const char* streaming_asked() { return asked.c_str(); }
BATON_PLATFORM_EXPORT size_t streaming_begun() { return begun; }

BATON_PLATFORM_EXPORT int baton_device_describe(BatonDevice* device, BatonDeviceDescription* out) {
  const int status = template_describe(device, out);
  out->features = BATON_FEATURE_BLOCKS;
  return status;
}

BATON_PLATFORM_EXPORT int baton_graph_run(BatonDeviceGraph* graph, const BatonRunOptions* options,
                                          uint32_t* failed_task) {
  const uint64_t began = now_ns();
  const int status = template_run(graph, options, failed_task);
  for (uint32_t task = 0; task < graph->calls.size(); ++task) keep_times(task, began);
  tell_times(*options);
  return status;
}

BATON_PLATFORM_EXPORT int baton_stream_begin(BatonDevice*, const BatonRunOptions* options, int* takes_out) {
  *takes_out = 1;
  stream_options = *options;
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
  const uint64_t began = now_ns();
  const int status = template_run(graph, &options, &ignored);
  keep_times(number, began);
  static_cast<void>(baton_graph_free(graph));
  return status;
}

BATON_PLATFORM_EXPORT int baton_stream_wait(BatonDevice*, uint32_t* failed_task) {
  *failed_task = has_failed ? failed_number : BATON_NO_TASK;
  const bool fails = has_failed;
  has_failed = false;
  next_number = 0;
  tell_times(stream_options);
  return fails ? fail(kernel_fault, "it was asked to fail") : 0;
}

}  // extern "C"
