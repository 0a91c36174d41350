// Tasks of a run for a device that takes whole graphs: collected, and run when somebody waits for them.
#pragma once

#include <memory>
#include <utility>

#include "chip/device/device.hpp"
#include "chip/sched/captured_tasks.hpp"

namespace baton::chip {

/// Numbers of tasks go on from batch to batch and from run to run: those up to complete() are complete.
class Batch {
 public:
  explicit Batch(Device& device) : device_(device) {}

  /// What is collected; it counts its tasks from 1 on.
  [[nodiscard]] CapturedTasks& tasks() noexcept { return *tasks_; }
  [[nodiscard]] TaskId complete() const noexcept { return complete_; }
  [[nodiscard]] TaskId newest() const noexcept { return complete_ + tasks_->newest(); }
  /// Whether enough is collected to be worth a run: more only takes memory.
  [[nodiscard]] bool is_large() const noexcept { return tasks_->newest() >= kLarge; }

  /// What is collected never runs.
  void drop() {
    complete_ += tasks_->newest();
    tasks_ = std::make_unique<CapturedTasks>();
  }
  /// Runs what is collected and begins anew. Throws the first failure.
  void run() {
    if (tasks_->newest() == 0) return;
    const auto tasks = std::exchange(tasks_, std::make_unique<CapturedTasks>());
    tasks->close();
    complete_ += tasks->newest();
    device_.run(*tasks);
  }

 private:
  static constexpr TaskId kLarge = 65'536;

  Device& device_;
  std::unique_ptr<CapturedTasks> tasks_ = std::make_unique<CapturedTasks>();
  TaskId complete_ = 0;
};

}  // namespace baton::chip
