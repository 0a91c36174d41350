// Tasks with edges that stay: built once, run many times.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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
  /// The newest task is filled and has its edges.
  void end();
  /// Instead of end(): there is no such task.
  void abandon();
  /// The graph is whole.
  void close();

  [[nodiscard]] TaskId newest() const noexcept { return count_; }
  [[nodiscard]] Task& operator[](TaskId id) noexcept { return at(static_cast<std::size_t>(id - 1)); }
  [[nodiscard]] const Task& operator[](TaskId id) const noexcept {
    return chunks_[static_cast<std::size_t>(id - 1) / kChunk][static_cast<std::size_t>(id - 1) % kChunk];
  }
  [[nodiscard]] std::uint64_t edge_count() const noexcept { return predecessors_.size(); }
  /// Whom the task waits for.
  [[nodiscard]] std::span<const TaskId> predecessors(TaskId id) const noexcept;
  /// For arguments.
  [[nodiscard]] Arena& arena() noexcept { return arena_; }

  /// Those that wait for nobody and have no priority of their own, by the lane that runs them.
  [[nodiscard]] const std::vector<Task*>& roots(Lane lane) const noexcept {
    return roots_[static_cast<std::size_t>(lane)];
  }
  /// The same with a priority.
  [[nodiscard]] const std::vector<Task*>& roots_by_priority() const noexcept { return roots_by_priority_; }

  /// Before each run. Waits for notifications wait for more each time: signals count on and are never reset.
  void next_run();
  /// After a run that failed: the reasons are gone.
  void forget_failures() noexcept;

 private:
  static constexpr std::size_t kChunk = 256;

  [[nodiscard]] Task& at(std::size_t index) noexcept { return chunks_[index / kChunk][index % kChunk]; }

  struct Wait {
    Task* task;
    std::int32_t per_run;
  };

  std::vector<std::unique_ptr<Task[]>> chunks_;
  std::size_t count_ = 0;
  Arena arena_;
  std::vector<TaskId> predecessors_;     // of all tasks, in the order of the tasks
  std::vector<std::uint64_t> first_of_;  // index in predecessors_, one for each task
  std::vector<TaskId> last_successor_;   // the newest task that waits for it, one for each task
  std::vector<Task*> successors_;        // of all tasks, in the order of the tasks
  std::array<std::vector<Task*>, kLanes> roots_;
  std::vector<Task*> roots_by_priority_;
  std::vector<Wait> waits_;
};

}  // namespace baton::chip
