// Tasks whose kernels were launched, and which may be complete later than these return.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <baton/platform.h>

#include "platform/ascend/conditions.hpp"

namespace baton::ascend {

/// Nobody tells the host when a word of a chip changes: the thread that runs the graph looks again and again.
class Deferred {
 public:
  Deferred(const Npu& npu, std::span<const GraphTask> tasks, std::span<const BatonDeviceExtent> extents)
      : npu_(npu), tasks_(tasks), extents_(extents) {}

  /// Its kernel was launched.
  void add(std::uint32_t task) { tasks_waiting_.push_back({task, std::nullopt}); }
  [[nodiscard]] bool empty() const noexcept { return tasks_waiting_.empty(); }
  /// Whether the kernel of one of them has not returned yet.
  [[nodiscard]] bool are_running() const noexcept;

  enum class Outcome : std::uint8_t { nothing_new, progress };
  /// Looks at all. `has_returned`: whether the kernel of a task has; `complete` is called for each task that is.
  /// Throws Error for what a kernel did wrong; `failed_task` is then that one.
  [[nodiscard]] Outcome look(const std::function<bool(std::uint32_t)>& has_returned,
                             const std::function<void(std::uint32_t)>& complete, std::uint32_t& failed_task);

  /// One that waits for a word: which, and for what. Nothing while there is none.
  struct Unmet {
    std::uint32_t task;
    Condition condition;
  };
  [[nodiscard]] std::optional<Unmet> first_unmet() const;

 private:
  struct Waiting {
    std::uint32_t task;
    std::optional<std::vector<Condition>> conditions;  // nothing while its kernel has not returned
  };

  const Npu& npu_;
  std::span<const GraphTask> tasks_;
  std::span<const BatonDeviceExtent> extents_;
  std::vector<Waiting> tasks_waiting_;
};

}  // namespace baton::ascend
