// Tasks of a run for a device that takes whole graphs: collected, and run when somebody waits for them. Or for one that
// takes their tasks, too: they run as they come.
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
  [[nodiscard]] bool is_large() const noexcept { return tasks_->newest() >= (runs_already_ ? kLargeIfItRuns : kLarge); }

  /// The newest task has its edges. Throws what went wrong with those before it.
  void take() {
    try {
      if (tasks_->newest() == 1) runs_already_ = device_.begin_tasks(*tasks_);
      if (runs_already_) device_.take_task(*tasks_);
    } catch (...) {
      static_cast<void>(begin_anew());
      throw;
    }
  }
  /// What is collected never runs; what runs already ends, and throws the first failure.
  void drop() {
    const bool runs = runs_already_;
    const auto tasks = begin_anew();
    if (runs && tasks->newest() != 0) device_.end_tasks(*tasks);
  }
  /// Runs what is collected and begins anew. Throws the first failure.
  void run() {
    if (tasks_->newest() == 0) return;
    const bool runs = runs_already_;
    auto tasks = begin_anew();
    if (runs) {
      device_.end_tasks(*tasks);
      // Its memory is used again.
      tasks->clear();
      tasks_ = std::move(tasks);
      return;
    }
    tasks->close();
    device_.run(*tasks);
  }

 private:
  static constexpr TaskId kLarge = 65'536;
  /// Less, so that their memory stays in the cache: to wait for them at times takes little.
  static constexpr TaskId kLargeIfItRuns = 16'384;

  /// Returns what was collected.
  [[nodiscard]] std::unique_ptr<CapturedTasks> begin_anew() {
    complete_ += tasks_->newest();
    runs_already_ = false;
    return std::exchange(tasks_, std::make_unique<CapturedTasks>());
  }

  Device& device_;
  std::unique_ptr<CapturedTasks> tasks_ = std::make_unique<CapturedTasks>();
  TaskId complete_ = 0;
  bool runs_already_ = false;  // what is collected
};

}  // namespace baton::chip
