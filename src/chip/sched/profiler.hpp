// Times of tasks, while they are asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <baton/place.hpp>
#include <baton/task_profile.hpp>

#include "base/event.hpp"
#include "base/recorder.hpp"
#include "base/ticks.hpp"
#include "base/unique_fd.hpp"
#include "chip/sched/task.hpp"

namespace baton::chip {

/// When a task came, in ticks. Apart from its run: the submitter writes it and another thread reads it.
struct TaskTimes {
  std::uint64_t submitted = 0;
  std::uint64_t ready = 0;
};

/// When and where a task ran, in ticks; 0: not yet.
struct RunTimes {
  std::uint64_t dispatched = 0;
  std::uint64_t started = 0;
  std::uint64_t returned = 0;  // by whichever block is last: atomic where there are several
  std::int16_t core = -1;
};

/// A task, as those who read about it know it.
struct NamedTask {
  TaskId id = 0;
  std::uint64_t graph = 0;  // which captured graph it is of; 0: none
  const char* kernel = "";
  Place where{};
  bool in_blocks = false;  // its kernels have events of their own

  /// For events: different for tasks of different graphs.
  [[nodiscard]] std::uint64_t event_number() const noexcept { return chip::event_number(id, graph); }
};

/// The records of one thread, which alone fills it.
class ThreadProfile {
 public:
  struct Kernel {
    std::uint64_t count = 0;
    std::uint64_t deferred = 0;
    std::uint64_t failed = 0;
    std::uint64_t not_run = 0;
    std::uint64_t total = 0;  // ticks, like the others
    std::uint64_t max = 0;
    std::uint64_t waiting = 0;
  };
  std::vector<Kernel> kernels;      // by number
  std::vector<TaskRecord> records;  // in ticks
  std::unordered_map<const char*, std::uint32_t> numbers;
  const char* last_name = nullptr;
  std::uint32_t last_number = 0;
};

/// One for a chip. The threads that complete tasks add, each to its own ThreadProfile; nobody adds while it is read.
/// While a trace is written, what is added goes there, too.
class Profiler {
 public:
  /// With a `file`, records go there and not to read(), and the names of kernels, a line each, to `file`.kernels.
  /// `rank` is that of the chip, for events.
  Profiler(ProfileMode mode, std::optional<std::string> file, std::uint32_t rank);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  /// Completes the file.
  ~Profiler();

  [[nodiscard]] ThreadProfile& add_thread();

  /// The task is complete.
  void add(ThreadProfile& thread, const NamedTask& task, const TaskTimes& times, const RunTimes& run,
           TaskOutcome outcome, std::uint64_t completed);

  /// The same for one that ran as it came.
  void add_at_once(ThreadProfile& thread, const NamedTask& task, const RunTimes& run) {
    if (task.kernel != thread.last_name || mode_ == ProfileMode::records || events::tracing()) [[unlikely]] {
      add(thread, task, {run.started, run.started}, run, TaskOutcome::done, run.returned);
      return;
    }
    ThreadProfile::Kernel& kernel = thread.kernels[thread.last_number];
    const std::uint64_t took = run.returned - run.started;
    ++kernel.count;
    kernel.total += took;
    if (took > kernel.max) kernel.max = took;
  }

  /// A block of a task with several has run.
  void add_block(const NamedTask& task, std::uint32_t block, int core, std::uint64_t started,
                 std::uint64_t returned) const noexcept;

  [[nodiscard]] ProfileMode mode() const noexcept { return mode_; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  void begin_run() noexcept { run_began_ = ticks(); }
  void end_run() noexcept;

  /// Names, kernels, records and the elapsed time.
  [[nodiscard]] TaskProfile read();
  [[nodiscard]] std::uint64_t elapsed() const noexcept { return elapsed_; }

  /// Any thread: how many tasks are deferred now.
  void note_deferred(std::uint64_t count) noexcept {
    std::uint64_t most = most_deferred_.load(std::memory_order_relaxed);
    while (most < count && !most_deferred_.compare_exchange_weak(most, count, std::memory_order_relaxed)) {
    }
  }

  // The submitter's.
  HighWater high_water;

 private:
  void trace(const NamedTask& task, const TaskTimes& times, const RunTimes& run, TaskOutcome outcome,
             std::uint64_t completed) const noexcept;
  [[nodiscard]] std::uint32_t number_of(ThreadProfile& thread, const char* name);
  [[nodiscard]] TaskRecord to_nanoseconds(const TaskRecord& record) const;
  void write(std::vector<TaskRecord>& records);
  void write_names() const;

  ProfileMode mode_;
  std::uint32_t rank_;
  std::optional<std::string> path_;
  UniqueFd file_;
  TickScale scale_;
  std::uint64_t run_began_ = 0;
  std::uint64_t elapsed_ = 0;
  std::atomic<std::uint64_t> most_deferred_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadProfile>> threads_;  // guarded by mutex_
  std::vector<std::string> names_;                       // guarded by mutex_
};

}  // namespace baton::chip
