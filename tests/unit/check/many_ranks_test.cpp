// As many ranks as one process has fibers for.
#include <gtest/gtest.h>

#include <array>
#include <span>

#include <baton/collectives.hpp>
#include <baton/inproc.hpp>

#include "support/recorded.hpp"

namespace baton::test {
namespace {

constexpr int kRanks = 1024;
constexpr int kRounds = 3;
constexpr int kNobody = -1;

/// Each rank puts a number into its neighbour's part, and the neighbour waits for it, but for `hasty`.
Recorded pass_numbers_around(int hasty) {
  return record([&] {
    run_ranks(kRanks, [&](Domain me) {
      const auto x = me.window<int>("x", 1);
      auto signals = me.signals("signals", 1);
      const int next = (me.rank() + 1) % me.size();
      for (int round = 1; round <= kRounds; ++round) {
        x.put(next, 0, me.rank());
        signals.notify(next, 0);
        if (me.rank() != hasty) signals.wait(0, WaitCmp::ge, round);
        x.note_read(x.data(), sizeof(int));
        me.barrier();
      }
      std::array<int, 1> sum = {1};
      allreduce(me, std::span<int>(sum));
    });
  });
}

TEST(ManyRanks, AreCheckedLikeFew) {
  const Recorded recorded = pass_numbers_around(kNobody);
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(recorded.text(), "");
  EXPECT_GE(recorded.findings.accesses, static_cast<std::uint64_t>(2 * kRanks * kRounds));
}

TEST(ManyRanks, OneOfThemThatDoesNotWaitIsFound) {
  const Recorded recorded = pass_numbers_around(17);
  EXPECT_EQ(recorded.failure, "");
  EXPECT_EQ(recorded.findings.races.size(), 1U);
  EXPECT_NE(recorded.text().find("of rank 17's part of \"x\""), std::string::npos) << recorded.text();
  EXPECT_NE(recorded.text().find("rank 16 writes: put at "), std::string::npos) << recorded.text();
}

}  // namespace
}  // namespace baton::test
