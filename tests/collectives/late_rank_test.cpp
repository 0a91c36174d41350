// A rank that comes late to a call that the others have given up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <span>

#include <baton/error.hpp>
#include <baton/inproc.hpp>

#include "cases.hpp"
#include "collectives/selection.hpp"

namespace baton::test {
namespace {

/// The ways on which ranks reach for memory that belongs to others, not to Baton.
std::vector<Case> cases_that_use_memory_of_others() {
  std::vector<Case> cases;
  for (const auto& info : collectives::all_algorithms()) {
    if (info.needs == collectives::Needs::contributions || info.needs == collectives::Needs::staged_input) continue;
    if (info.operation == collectives::Operation::reduce && info.algorithm == Algorithm::tree) continue;  // staged, too
    cases.push_back({.operation = info.operation,
                     .count = 5000,
                     .memory = info.needs == collectives::Needs::memory ? Memory::own : Memory::windows,
                     .algorithm = info.algorithm,
                     .timeout = std::chrono::milliseconds(30)});
  }
  return cases;
}

TEST(ARankThatComesTooLate, NeitherTakesNorGivesAnything) {
  constexpr int kRanks = 3;
  constexpr std::byte kOther{0xee};
  for (const Case& one : cases_that_use_memory_of_others()) {
    std::atomic<int> gave_up{0};
    std::atomic<int> changed{0};
    std::string report;
    run_ranks(kRanks, [&](Domain me) {
      const bool is_late = me.rank() == kRanks - 1;
      const Buffers buffers(me, bytes_of(one, kRanks));
      barrier(me);
      if (is_late) me.barrier();
      try {
        static_cast<void>(wrong_elements(me, buffers, one, 0));
      } catch (const Error& error) {
        ++gave_up;
        if (is_late) report = error.what();
      }
      const std::size_t count = buffers.bytes() / size_of(one.element);
      const std::span input(buffers.input(one, count).address(), buffers.bytes());
      const std::span output(buffers.output(one, count).address(), buffers.bytes());
      if (!is_late) {
        std::ranges::fill(input, kOther);
        std::ranges::fill(output, kOther);
        me.barrier();
      }
      me.barrier();
      const bool is_kept = std::ranges::count(input, kOther) + std::ranges::count(output, kOther) ==
                           static_cast<std::ptrdiff_t>(input.size() + output.size());
      if (!is_late && !is_kept) ++changed;
    });
    EXPECT_GE(gave_up, 2) << describe(one);
    // Windows are there to be written to.
    EXPECT_TRUE(changed == 0 || one.memory == Memory::windows) << describe(one);
    EXPECT_THAT(report, testing::HasSubstr("E031")) << describe(one);
  }
}

}  // namespace
}  // namespace baton::test
