// What kernels leave behind for the time after they have returned: conditions under which their task is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <baton/platform.h>

#include <intrinsic.h>
#include <pto_cq_types.h>

#include "platform/ascend/graph.hpp"

namespace baton::ascend {

/// What the kernel of one block writes, in memory of the chip: both forms of conditions. Cleared before each run. A
/// core writes whole lines of its cache back, so no two blocks share one.
struct ConditionBlock {
  DeferredCompletionSlab slab;
  PTO2CompletionQueue queue;
};
static_assert(sizeof(ConditionBlock) % 64 == 0 && alignof(ConditionBlock) == 64);

/// What the kernel of a block is told of its conditions, which lie at `block` on the chip; 0: it may leave none.
[[nodiscard]] AsyncCtx context_of(std::uint64_t block) noexcept;

/// A word of the chip that has to reach a value, unsigned.
struct Condition {
  std::uint64_t address;
  std::size_t bytes;  // 4 or 8
  std::uint64_t expected;
};

/// Of a task whose kernel has returned. Throws Error for what the kernel did wrong. `extents`: what it may name.
[[nodiscard]] std::vector<Condition> conditions_of(const Npu& npu, const GraphTask& task,
                                                   std::span<const BatonDeviceExtent> extents);

[[nodiscard]] std::uint64_t value_of(const Npu& npu, const Condition& condition);

}  // namespace baton::ascend
