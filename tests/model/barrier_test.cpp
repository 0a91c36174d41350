// The production barrier: everybody passes, every round, and sees what was written before.
#include <gtest/gtest.h>

#include "barrier_world.hpp"
#include "comm/barrier_protocol.hpp"

namespace baton::model {
namespace {

using Words = ModelBarrierWords<AsWritten>;

Report explore_production(const char* name, BarrierUse use, const Options& options = {}) {
  return explore_barrier<comm::BarrierProtocol<Words>, Words>(name, use, options);
}

TEST(Barrier, Spinning) {
  expect_holds(explore_production("2 members, 3 rounds, spinning", {.members = 2, .rounds = 3}));
  expect_holds(explore_production("3 members, 3 rounds, spinning", {.members = 3, .rounds = 3}));
}

TEST(Barrier, TwoMembersParked) {
  expect_holds(
      explore_production("2 members, 3 rounds, parked", {.members = 2, .rounds = 3, .waiting = Waiting::parked}));
}

TEST(Barrier, ThreeMembersParked) {
  expect_holds(
      explore_production("3 members, 2 rounds, parked", {.members = 3, .rounds = 2, .waiting = Waiting::parked}));
}

TEST(Barrier, ThreeMembersParkedForLonger) {
  expect_holds(explore_production("3 members, 3 rounds, parked",
                                  {.members = 3, .rounds = 3, .waiting = Waiting::parked}, {.preemptions = 2}));
}

TEST(Barrier, MembersWithdrawAndComeAgain) {
  expect_holds(explore_production("2 members, 2 rounds, withdrawing", {.members = 2, .rounds = 2, .impatient = 2}));
  expect_holds(explore_production("3 members, 2 rounds, one withdrawing", {.members = 3, .rounds = 2, .impatient = 1}));
  expect_holds(explore_production("3 members, 1 round, two withdrawing", {.members = 3, .rounds = 1, .impatient = 2}));
  expect_holds(explore_production("2 members, 2 rounds, parked or withdrawing",
                                  {.members = 2, .rounds = 2, .waiting = Waiting::parked, .impatient = 2}));
}

}  // namespace
}  // namespace baton::model
