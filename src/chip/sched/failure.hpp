// What went wrong in a run.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "chip/sched/task.hpp"

namespace baton::chip {

/// Why a deferred task fails whose notification nobody will send any more: the orchestration has failed.
struct GivenUp : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "given up because the orchestration failed"; }
};

/// A task that failed by itself.
struct TaskFailure {
  TaskId task;
  std::string kernel;
  Place where;
  std::exception_ptr cause;
  bool given_up;
};

/// A task that was not run because of another one.
struct TaskNotRun {
  TaskId task;
  std::string kernel;
  Place where;
  TaskId because_of;
};

/// The failures of one run. Any thread may add.
class FailureLog {
 public:
  /// Lives until clear().
  const TaskFailure* add_failure(const Task& task, std::exception_ptr cause);
  void add_not_run(const Task& task, const TaskFailure& because);

  /// May be tested before sleeping; pairs with add_failure().
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_seq_cst); }
  /// Whether a task failed by itself, and not only because the run was given up.
  [[nodiscard]] bool any_but_given_up() const;
  /// Throws the first failure, with task, kernel, place of submission and what did not run because of it.
  [[noreturn]] void raise() const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<TaskFailure>> failures_;  // guarded by mutex_
  std::vector<TaskNotRun> not_run_;                     // guarded by mutex_
  std::atomic<bool> any_{false};
};

/// "scale (task 7, submitted at model.cpp:31)"
[[nodiscard]] std::string describe_task(TaskId task, const std::string& kernel, const Place& where);
[[nodiscard]] std::string describe_task(const Task& task);

}  // namespace baton::chip
