// Who is expected to be the next root, and how long that is believed.
#include "collectives/root_forecast.hpp"

#include <gtest/gtest.h>

namespace baton::collectives {
namespace {

using Root = RootForecast::Root;

TEST(RootForecast, ExpectsTheNextOfThreeThatLieEvenlyApart) {
  RootForecast roots(5);
  for (const int root : {3, 0, 2}) roots.note(root, Root::gives);  // two further each time, round five
  EXPECT_TRUE(roots.is_worth_waiting(4, 2));
  EXPECT_FALSE(roots.is_worth_waiting(3, 2)) << "somebody else is next";
  EXPECT_FALSE(roots.is_worth_waiting(4, 0)) << "it is not the root that the rank waits for";
}

TEST(RootForecast, LetsARootThatTakesWaitForTheOneBefore) {
  RootForecast roots(5);
  for (const int root : {3, 0, 2}) roots.note(root, Root::gives);
  EXPECT_FALSE(roots.is_worth_waiting(2, 0)) << "who gives does not wait for one alone";
  for (const int root : {4, 1, 3, 0, 2}) roots.note(root, Root::takes);
  EXPECT_TRUE(roots.is_worth_waiting(2, 0));
  EXPECT_FALSE(roots.is_worth_waiting(2, 3)) << "others may be late for other reasons";
  EXPECT_FALSE(roots.is_worth_waiting(0, 3)) << "its call is over";
}

TEST(RootForecast, ExpectsNobodyWhileTheOrderIsNotKnown) {
  RootForecast roots(4);
  for (int call = 0; call < 3; ++call) {
    roots.note(1, Root::gives);
    for (int rank = 0; rank < 4; ++rank) EXPECT_FALSE(roots.is_worth_waiting(rank, 1)) << "always the same root";
  }
  roots.note(2, Root::gives);
  for (int rank = 0; rank < 4; ++rank) EXPECT_FALSE(roots.is_worth_waiting(rank, 2)) << "a first step";
  roots.note(0, Root::gives);
  for (int rank = 0; rank < 4; ++rank) EXPECT_FALSE(roots.is_worth_waiting(rank, 0)) << "another step";
  roots.note(2, Root::gives);
  EXPECT_TRUE(roots.is_worth_waiting(0, 2));
}

TEST(RootForecast, PausesTwiceAsLongAfterEachWaitInVain) {
  RootForecast roots(2);
  for (const int root : {0, 1, 0}) roots.note(root, Root::gives);
  const auto refusals = [&] {
    int count = 0;
    while (!roots.is_worth_waiting(1, 0)) ++count;
    return count;
  };
  for (const int expected : {0, 1, 3, 7, 15, 31, 63, 64, 64}) {
    EXPECT_EQ(refusals(), expected);
    roots.learn(false);
  }
  roots.learn(true);
  EXPECT_EQ(refusals(), 0);
}

}  // namespace
}  // namespace baton::collectives
