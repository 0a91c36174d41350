// Times of blocks of a GPU: as times of the host.
#include "platform/cuda/block_times.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace baton::cuda {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(GpuClock, TakesTheReadingThatWasAnsweredSoonest) {
  GpuClock clock;
  const std::vector<GpuClock::Reading> readings = {
      {1000, 9000, 700'000}, {20'000, 22'000, 715'000}, {30'000, 39'000, 1}};
  clock.compare(readings);
  EXPECT_EQ(clock.error_ns(), 1000);
  EXPECT_EQ(clock.host_of(715'000), 21'000U);
  EXPECT_EQ(clock.host_of(714'000), 20'000U);  // before the comparison
  EXPECT_EQ(clock.host_of(0), 0U);
}

TEST(GpuClock, HasTheSpeedOfTheLastTwoComparisons) {
  // 100 of a million faster than the host.
  const auto gpu_at = [](std::int64_t host) {
    return static_cast<std::uint64_t>(std::llround(5e9 + 1.0001 * static_cast<double>(host)));
  };
  GpuClock clock;
  for (const std::int64_t at : {kSecond, kSecond + kSecond / 10}) {
    const GpuClock::Reading reading{at - 500, at + 500, gpu_at(at)};
    clock.compare({&reading, 1});
  }
  const std::int64_t later = 2 * kSecond;
  EXPECT_NEAR(static_cast<double>(clock.host_of(gpu_at(later))), static_cast<double>(later), 10);
}

TEST(GpuClock, IsFreshForAWhile) {
  GpuClock clock;
  EXPECT_FALSE(clock.is_fresh(0));
  const GpuClock::Reading reading{100, 100, 5};
  clock.compare({&reading, 1});
  EXPECT_TRUE(clock.is_fresh(200));
  EXPECT_FALSE(clock.is_fresh(kSecond));
}

TEST(BlockTimes, TellOfThoseThatACoreCameToAndOfNoOthers) {
  GpuClock clock;
  const GpuClock::Reading reading{1'000'000, 1'000'000, 50};
  clock.compare({&reading, 1});
  const std::vector<TimedBlock> blocks = {{0, 0, 3, 1}, {1, 0, 0, 0}, {2, 1, 4, 2}, {3, 0, 5, 3}};
  const std::vector<UnitTimes> times = {{0, 80, 80}, {60, 70, 75}, {0, 0, 0}, {90, 0, 0}};
  std::vector<BatonBlockTimes> told;
  BatonRunOptions options{};
  options.context = &told;
  options.note_block = [](void* context, const BatonBlockTimes* one) {
    static_cast<std::vector<BatonBlockTimes>*>(context)->push_back(*one);
  };
  tell_times(blocks, times, clock, options);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].core, 3U);
  EXPECT_EQ(told[0].started, 1'000'010U);
  EXPECT_EQ(told[0].returned, 1'000'020U);
  EXPECT_EQ(told[0].completed, 1'000'025U);
  EXPECT_EQ(told[1].started, 0U);  // its kernel was not called
  EXPECT_EQ(told[1].completed, 1'000'030U);
  EXPECT_EQ(told[2].task, 3U);
  EXPECT_EQ(told[2].returned, 0U);  // the run ended in the middle of it
  EXPECT_EQ(told[2].completed, 0U);
}

}  // namespace
}  // namespace baton::cuda
