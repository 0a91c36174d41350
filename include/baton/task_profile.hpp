// Profiles: what tasks did, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <baton/export.hpp>

namespace baton {

enum class ProfileMode : std::uint8_t {
  off,
  summary,  // per kernel and per core
  records,  // the same, and a record of each task
};

/// What became of a task.
enum class TaskOutcome : std::uint8_t {
  done,
  deferred,  // done, some time after its kernel had returned
  failed,
  not_run,  // because another one failed
};

/// One task. Times are nanoseconds of the steady clock; 0: it did not come to that. Files of records are arrays of
/// this.
struct TaskRecord {
  std::uint64_t task;
  std::int64_t submitted;
  std::int64_t ready;       // all that it waited for was complete
  std::int64_t dispatched;  // a core took it, or its first block
  std::int64_t started;     // the kernel began, in the first block
  std::int64_t returned;    // it ended, in the last block
  std::int64_t completed;   // and so did its conditions: tasks that wait for it may go on
  std::uint32_t kernel;     // index in TaskProfile::names
  std::int16_t core;        // number of the core that took it; -1: none
  TaskOutcome outcome;
  std::uint8_t reserved;
};
static_assert(sizeof(TaskRecord) == 64);

struct KernelProfile {
  std::string kernel;
  std::uint64_t count = 0;  // of tasks, in all
  std::uint64_t deferred = 0;
  std::uint64_t failed = 0;
  std::uint64_t not_run = 0;
  /// From the begin of the kernel to its return, of those that ran.
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
  /// From ready to dispatched, in all.
  std::int64_t waiting_ns = 0;
};

struct CoreProfile {
  std::string core;
  std::uint64_t kernels = 0;
  /// The share of the profiled time that it was inside kernels. Cores of one thread take turns, so those that wait for
  /// each other are busy at the same time.
  double busy = 0;
};

/// The most that was in use at once, and how much there is.
struct HighWater {
  std::uint64_t tasks = 0;
  std::uint64_t task_window = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t output_heap_bytes = 0;
  std::uint64_t deferred = 0;
};

/// Of all runs of a chip so far.
struct BATON_API TaskProfile {
  std::int64_t elapsed_ns = 0;         // inside of runs
  std::vector<KernelProfile> kernels;  // the longest in all first
  std::vector<CoreProfile> cores;      // those that ran a kernel
  HighWater high_water;
  std::vector<std::string> names;
  std::vector<TaskRecord> records;  // in the order of completion on each thread; only with ProfileMode::records

  /// For people.
  [[nodiscard]] std::string table() const;
};

}  // namespace baton
