// Pairs of instructions of kernels that touch the same bytes, and what `baton check` is to say of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include <baton/chip.hpp>

#include "access_kernels.hpp"
#include "support/recorded.hpp"
#include "support/scale.hpp"
#include "uses.hpp"

namespace baton::test {

/// All pairs of instructions, or some of them.
inline void for_each_pair(const std::function<void(Instruction, Instruction)>& judge) {
  constexpr int kPairs = kInstructions * kInstructions;
  const int count = std::min(kPairs, scaled(kPairs / 3));
  for (int i = 0; i < count; ++i) {
    // 5 and the number of pairs have no factor in common: each is chosen once.
    const int pair = i * 5 % kPairs;
    judge(static_cast<Instruction>(pair / kInstructions), static_cast<Instruction>(pair % kInstructions));
  }
}

inline void expect(const Recorded& recorded, bool race, Instruction first, Instruction second, const char* mechanism) {
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(!recorded.findings.races.empty(), race) << "instruction " << static_cast<int>(first) << ", then "
                                                    << static_cast<int>(second) << ", with " << mechanism << '\n'
                                                    << recorded.text();
  EXPECT_GE(recorded.findings.accesses, 2U);
}

/// Two tasks of one chip.
struct OneChip {
  Chip chip{ChipOptions{.clusters = 1}};
  Tensor there = chip.alloc<float>({2 * kNumbers}, "there");
  Tensor elsewhere = chip.alloc<float>({2 * kNumbers}, "elsewhere");
  Tensor named = chip.alloc<std::int32_t>({1}, "named");
  Tensor other = chip.alloc<std::int32_t>({1}, "other");
  std::optional<Tensor> signal;  // zero at the begin of each case

  void begin() {
    if (signal) chip.free(*signal);
    signal = chip.alloc<std::int32_t>({1}, "signal");
  }
  [[nodiscard]] std::uint64_t scratch(int task) const {
    return elsewhere.address() + static_cast<std::uint64_t>(task * kNumbers) * sizeof(float);
  }
  TaskId touch(Graph& graph, Instruction instruction, int task, const TaskOptions& options = {}, bool waits = false,
               bool notifies = false) {
    return graph.submit(options, touch_there, static_cast<std::int32_t>(instruction), there.address(), scratch(task),
                        waits ? signal->address() : 0, notifies ? signal->address() : 0);
  }
  TaskId touch(Graph& graph, Instruction instruction, int task, const Tensor& name) {
    return graph.submit(touch_and_name, name, static_cast<std::int32_t>(instruction), there.address(), scratch(task));
  }
};

}  // namespace baton::test
