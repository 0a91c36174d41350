// In which order the tasks of a graph begin.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "platform/ascend/graph.hpp"

namespace baton::ascend {

/// Of those whose predecessors have begun, the one with the highest priority; of several, the first of the graph.
class LaunchOrder {
 public:
  explicit LaunchOrder(std::span<const GraphTask> tasks);

  /// Nothing while all that are left wait for one that has not begun.
  [[nodiscard]] std::optional<std::uint32_t> next();
  /// Those behind it may begin.
  void begun(std::uint32_t task);

 private:
  void add(std::uint32_t task);
  [[nodiscard]] bool comes_later(std::uint32_t a, std::uint32_t b) const;

  std::span<const GraphTask> tasks_;
  std::vector<std::uint32_t> waits_for_;  // predecessors that have not begun
  std::vector<std::uint32_t> ready_;      // a heap
};

}  // namespace baton::ascend
