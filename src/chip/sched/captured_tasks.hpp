// Tasks with edges that stay: built once, run many times.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chip/sched/crew_choice.hpp"
#include "chip/sched/task.hpp"
#include "chip/sched/task_blocks.hpp"

namespace baton::chip {

/// Built by one thread: begin(), depend() and end() for each task, then close(). After that the scheduler may run it.
class CapturedTasks {
 public:
  /// A task with the next number, for the caller to fill.
  [[nodiscard]] Task& begin();
  /// The newest task waits for `earlier`.
  void depend(TaskId earlier);
  /// Whether it is not yet known that `earlier` completes before the newest task begins.
  [[nodiscard]] bool unordered(TaskId earlier) const noexcept { return earlier > behind_; }
  /// The newest task is filled and has its edges.
  void end();
  /// Instead of end(): there is no such task.
  void abandon();
  /// Until it is closed.
  [[nodiscard]] Task& newest_task() noexcept { return chunks_[(count_ - 1) / kChunk][(count_ - 1) % kChunk]; }
  /// The graph is whole.
  void close();
  /// It has no tasks again; the memory is kept. Until it is closed.
  void clear();

  [[nodiscard]] TaskId newest() const noexcept { return count_; }
  // Once closed.
  [[nodiscard]] Task& operator[](TaskId id) noexcept { return tasks_.get()[id - 1]; }
  [[nodiscard]] const Task& operator[](TaskId id) const noexcept { return tasks_.get()[id - 1]; }
  [[nodiscard]] std::uint64_t edge_count() const noexcept { return predecessors_.size(); }
  /// Whom the task waits for.
  [[nodiscard]] std::span<const TaskId> predecessors(TaskId id) const noexcept;
  /// Who waits for the task: their numbers less one. Once closed.
  [[nodiscard]] std::span<const std::uint32_t> successors(TaskId id) const noexcept {
    const auto index = static_cast<std::size_t>(id - 1);
    return {successors_.data() + first_successor_[index],
            static_cast<std::size_t>(first_successor_[index + 1] - first_successor_[index])};
  }
  /// For arguments.
  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  /// Grows whenever arguments change that a device may have copied.
  [[nodiscard]] std::uint64_t arguments_version() const noexcept { return arguments_version_; }
  void arguments_changed() noexcept { ++arguments_version_; }
  /// What a device keeps for its runs.
  [[nodiscard]] std::shared_ptr<void>& prepared() noexcept { return prepared_; }

  /// Those that wait for nobody and have no priority of their own, by the cores that runs them.
  [[nodiscard]] const std::vector<Task*>& roots(Cores cores) const noexcept {
    return roots_[static_cast<std::size_t>(cores)];
  }
  /// The same with a priority.
  [[nodiscard]] const std::vector<Task*>& roots_by_priority() const noexcept { return roots_by_priority_; }

  /// `task`, which is complete, is as it was before the run. Calls `released(successor)` for each task that waits for
  /// it, and `ready(successor, kind)` after that if it waits for nobody else.
  template <class Released, class Ready>
  void complete(Task& task, Released&& released, Ready&& ready) {
    const auto index = static_cast<std::size_t>(task.id - 1);
    // For the next run, which begins when this task, too, is counted as complete.
    task.put_counts_back();
    Task::put_back(pending_[index], predecessor_count(index));
    const std::uint64_t end = first_successor_[index + 1];
    for (std::uint64_t i = first_successor_[index]; i < end; ++i) {
      const std::uint32_t successor = successors_[static_cast<std::size_t>(i)];
      released(tasks_.get()[successor]);
      if (count_down(pending_[successor])) ready(tasks_.get()[successor], kinds_[successor]);
    }
  }

  /// By how many threads it is run.
  [[nodiscard]] CrewChoice& crew() noexcept { return crew_; }

  /// Before each run. Waits for notifications wait for more each time: signals count on and are never reset.
  void next_run();
  /// A number of its own in this process, for events.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// From now on, tasks have times.
  void keep_times();
  [[nodiscard]] TaskTimes& times(TaskId id) noexcept { return times_[id - 1]; }
  [[nodiscard]] RunTimes& run_times(TaskId id) noexcept { return run_times_[id - 1]; }
  /// After a run that failed: the reasons are gone.
  void forget_failures() noexcept;

 private:
  [[nodiscard]] static std::uint64_t next_number() noexcept;
  static constexpr std::size_t kChunk = 256;

  struct Free {
    void operator()(Task* tasks) const noexcept;
  };
  void move_together();
  [[nodiscard]] std::uint32_t predecessor_count(std::size_t index) const noexcept {
    return static_cast<std::uint32_t>(first_of_[index + 1] - first_of_[index]);
  }

  struct Wait {
    TaskId task;
    std::int32_t per_run;
  };

  std::vector<std::unique_ptr<Task[]>> chunks_;  // until close()
  std::unique_ptr<Task, Free> tasks_;            // then: all of them
  std::size_t count_ = 0;
  Arena arena_;
  std::vector<TaskId> predecessors_;           // of all tasks, in the order of the tasks
  std::vector<std::uint64_t> first_of_ = {0};  // index in predecessors_, one for each task, and the end
  std::vector<TaskId> all_before_;             // all tasks up to it complete before this one, one for each task
  TaskId behind_ = 0;                          // the same for the newest task, from its edges so far
  std::vector<TaskId> last_successor_;         // the newest task that waits for it, one for each task
  // What a run needs of a task that is not ready, in little memory: runs are as fast as it stays in the cache.
  std::vector<std::uint32_t> successors_;       // indices; of all tasks, in the order of the tasks
  std::vector<std::uint64_t> first_successor_;  // index in successors_, one for each task, and the end
  std::unique_ptr<std::atomic<std::uint32_t>[]> pending_;
  std::vector<TaskKind> kinds_;
  std::uint64_t number_ = next_number();
  std::unique_ptr<TaskTimes[]> times_;  // while they are profiled
  std::unique_ptr<RunTimes[]> run_times_;
  std::array<std::vector<Task*>, kCoreKinds> roots_;
  std::vector<Task*> roots_by_priority_;
  std::vector<Wait> waits_;
  CrewChoice crew_;
  std::uint64_t arguments_version_ = 1;
  std::shared_ptr<void> prepared_;
};

/// As events count tasks: those of all captured graphs of a process, and those of a stream.
[[nodiscard]] inline std::uint64_t event_number(const Task& task) noexcept {
  return event_number(task.id, task.graph == nullptr ? 0 : task.graph->number());
}

}  // namespace baton::chip
