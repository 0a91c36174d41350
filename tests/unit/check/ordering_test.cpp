// Waits whose guarantees depend on each other: what they leave in order, and how long it takes to find out.
#include <gtest/gtest.h>

#include "check/ordering.hpp"
#include "program.hpp"

namespace baton::check::test {
namespace {

constexpr Actor kRanks = 4;
constexpr std::uint64_t kArrivals = 0;
constexpr std::uint64_t kReleases = 1;
constexpr std::uint64_t kShared = 0;

/// Meetings: all arrive at a counter, the last sees that all have, writes, and releases the others by a word that
/// grows. Another is the last each time. `hasty` does not wait in meeting `skipped`, of which it is not the last.
History meetings(std::int64_t count, Actor hasty = kRanks, std::int64_t skipped = 0) {
  Program program(kRanks);
  for (std::int64_t meeting = 1; meeting <= count; ++meeting) {
    const auto last = static_cast<Actor>(meeting % kRanks);
    for (Actor rank = 0; rank < kRanks; ++rank) {
      ActorProgram& mine = program[rank];
      mine.notify(kArrivals);
      if (rank == last) {
        mine.wait(kArrivals, meeting * kRanks).write(kShared).set(kReleases, meeting);
      } else if (rank != hasty || meeting != skipped) {
        mine.wait(kReleases, meeting);
      }
      mine.read(kShared);
    }
  }
  return program.run(1).value();
}

TEST(Ordering, MeetingsThatNeedEachOtherAreInOrder) { EXPECT_TRUE(found_in(meetings(40)).empty()); }

TEST(Ordering, AWaitLeftOutOfOneMeetingIsFoundAtTheBeginningAndAtTheEnd) {
  for (const std::int64_t skipped : {1, 21, 39}) EXPECT_FALSE(found_in(meetings(40, 0, skipped)).empty()) << skipped;
}

TEST(Ordering, TakesTwoPassesHoweverLongTheHistory) {
  for (const std::int64_t count : {2, 40, 400}) {
    Ordering ordering;
    for (Actor rank = 0; rank < kRanks; ++rank) ordering.enter(rank);
    EXPECT_EQ(ordering.settle(meetings(count)), 2U) << count;
  }
}

}  // namespace
}  // namespace baton::check::test
