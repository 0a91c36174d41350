#include "base/parking.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace baton {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Parking : public ::testing::TestWithParam<Crowding> {
 protected:
  [[nodiscard]] ParkingPlace place() { return {&doorbell_, FutexScope::process, GetParam()}; }
  Doorbell doorbell_;
};

TEST_P(Parking, ATestThatHoldsNeedsNoSleep) {
  EXPECT_TRUE(wait_until(
      place(), [] { return true; }, Deadline::after(seconds(60)), [] { FAIL() << "slept"; }));
}

TEST_P(Parking, AWaitEndsAtItsDeadline) {
  const auto start = Deadline::Clock::now();
  EXPECT_FALSE(wait_until(
      place(), [] { return false; }, Deadline::within(milliseconds(30)), [] {}));
  EXPECT_GE(Deadline::Clock::now() - start, milliseconds(30));
  EXPECT_EQ(doorbell_.sleepers(), 0U);
}

TEST(YieldUntil, GivesUpEarlyWhereOthersKeepTheProcessor) {
  int looks = 0;
  EXPECT_FALSE(yield_until([&] {
    ++looks;
    std::this_thread::sleep_for(milliseconds(6));
    return false;
  }));
  EXPECT_LE(looks, 3);
}

TEST(Strangers, ALostProcessorMeansLookingForAMomentOnly) {
  constexpr milliseconds kLost{50};
  constexpr int kMany = 1000;  // a moment is fewer, the spins of a waiter with a processor are more
  Strangers strangers;
  int looks = 0;
  const auto look = [&] { return ++looks, false; };
  // The first look is before all yields.
  EXPECT_FALSE(strangers.stay_awake_until(
      [&] {
        if (++looks == 2) std::this_thread::sleep_for(kLost);
        return false;
      },
      Crowding::packed));
  looks = 0;
  EXPECT_FALSE(strangers.stay_awake_until(look, Crowding::spare));
  EXPECT_LT(looks, kMany);
  std::this_thread::sleep_for(20 * kLost);
  looks = 0;
  EXPECT_FALSE(strangers.stay_awake_until(look, Crowding::spare));
  EXPECT_GT(looks, kMany);
}

TEST_P(Parking, ASleeperIsWokenByTheChangeItWaitsFor) {
  std::atomic<int> word{0};
  std::atomic<int> sleeps{0};
  std::thread changer([&] {
    while (doorbell_.sleepers() == 0) std::this_thread::yield();
    word.store(1, std::memory_order_seq_cst);
    doorbell_.ring(FutexScope::process);
  });
  EXPECT_TRUE(wait_until(
      place(), [&] { return word.load(std::memory_order_seq_cst) == 1; }, Deadline::after(seconds(60)),
      [&] { ++sleeps; }));
  changer.join();
  EXPECT_GE(sleeps, 1);
}

TEST_P(Parking, EveryOneOfManySleepersIsWoken) {
  constexpr int kSleepers = 8;
  std::atomic<int> word{0};
  std::atomic<int> woken{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < kSleepers; ++i) {
    sleepers.emplace_back([&] {
      EXPECT_TRUE(wait_until(
          place(), [&] { return word.load(std::memory_order_seq_cst) == 1; }, Deadline::after(seconds(60)), [] {}));
      ++woken;
    });
  }
  while (doorbell_.sleepers() < kSleepers) std::this_thread::yield();
  word.store(1, std::memory_order_seq_cst);
  doorbell_.ring(FutexScope::process);
  for (auto& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(woken, kSleepers);
}

INSTANTIATE_TEST_SUITE_P(Crowdings, Parking, ::testing::Values(Crowding::spare, Crowding::crowded));

}  // namespace
}  // namespace baton
