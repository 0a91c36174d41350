// Clocks of other hosts, made up: whatever their offset and drift, times come out right but for the error that is said.
#include "base/host_clock.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "base/ticks.hpp"

namespace baton {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A clock that is ahead of this one by `offset_ns` and goes faster, with a counter of `ticks_per_ns`.
struct Other {
  std::int64_t offset_ns;
  double faster;
  double ticks_per_ns;

  [[nodiscard]] std::int64_t ns(std::int64_t here) const {
    return here + offset_ns + static_cast<std::int64_t>(faster * static_cast<double>(here));
  }
  [[nodiscard]] std::uint64_t ticks(std::int64_t here) const {
    return (std::uint64_t{1} << 50U) +
           static_cast<std::uint64_t>(static_cast<double>(here) * (1 + faster) * ticks_per_ns);
  }
  /// Asked at `here`; the way there takes `out`, the way back `back`.
  [[nodiscard]] ClockSample ask(std::int64_t here, std::int64_t out, std::int64_t back) const {
    return sample_of(here, {ticks(here + out), ns(here + out)}, here + out + back);
  }
};

TEST(HostClock, TimesAreRightButForTheErrorThatIsSaid) {
  std::mt19937 random(1);
  const auto any = [&random](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  for (int round = 0; round < 500; ++round) {
    const Other other{any(-kSecond * 100'000, kSecond * 100'000), static_cast<double>(any(-100, 100)) * 1e-6,
                      static_cast<double>(any(1, 40)) / 10};
    const std::int64_t length = any(kSecond / 100, kSecond * 1000);
    std::vector<ClockSample> samples;
    const auto burst = [&](std::int64_t at) {
      // Ways that are as unequal as can be, some of them long.
      for (int i = 0; i < 16; ++i) {
        const std::int64_t way = any(20'000, i % 5 == 0 ? 5'000'000 : 200'000);
        const std::int64_t out = any(0, way);
        samples.push_back(other.ask(at, out, way - out));
        at += way;
      }
    };
    burst(0);
    for (std::int64_t at = kSecond / 5; at < length; at += length / 20 + kSecond / 5) {
      samples.push_back(other.ask(at, any(0, 9'000'000), any(0, 9'000'000)));
    }
    burst(length);
    const HostClock clock(samples);
    EXPECT_GT(clock.error_ns(), 0);
    EXPECT_LT(clock.error_ns(), 2'000'000);
    for (int i = 0; i <= 10; ++i) {
      const std::int64_t here = samples.front().here_ns + (samples.back().here_ns - samples.front().here_ns) / 10 * i;
      // The samples themselves lie up to their drift beside the ends.
      EXPECT_LE(std::abs(clock.here_ns(other.ticks(here)) - here), clock.error_ns() + 10'000) << round;
    }
  }
}

TEST(HostClock, DriftIsThereOnlyIfItCannotBeAnError) {
  const Other even{5 * kSecond, 0, 2.5};
  const std::vector<ClockSample> still{even.ask(0, 90'000, 10'000), even.ask(kSecond, 10'000, 90'000)};
  const HostClock steady(still);
  EXPECT_EQ(steady.drift(), 0);
  // So two times of that host are as far apart as its own clock says.
  EXPECT_NEAR(static_cast<double>(steady.here_ns(even.ticks(kSecond)) - steady.here_ns(even.ticks(0))), 1e9, 2);

  const Other fast{5 * kSecond, 50e-6, 2.5};
  const std::vector<ClockSample> apart{fast.ask(0, 50'000, 50'000), fast.ask(100 * kSecond, 50'000, 50'000)};
  EXPECT_NEAR(HostClock(apart).drift(), 50e-6, 1e-6);
}

TEST(HostClock, ShortRoundTripsCountMore) {
  const Other other{kSecond, 0, 1};
  const std::vector<ClockSample> samples{other.ask(0, 4'000'000, 1'000), other.ask(6'000'000, 20'000, 20'000),
                                         other.ask(kSecond, 9'000'000, 0), other.ask(2 * kSecond, 30'000, 10'000)};
  EXPECT_LE(HostClock(samples).error_ns(), 40'000);
}

TEST(HostClock, BothClocksAreReadAtOneMoment) {
  const ClockReading first = read_clocks();
  const TickScale scale;
  while (ticks() - first.ticks < 50'000'000) continue;
  const ClockReading second = read_clocks();
  const double ns_per_tick =
      static_cast<double>(second.ns - first.ns) / static_cast<double>(second.ticks - first.ticks);
  const ClockReading third = read_clocks();
  const double expected = static_cast<double>(third.ticks - second.ticks) * ns_per_tick;
  EXPECT_NEAR(static_cast<double>(third.ns - second.ns), expected, 1e6);
}

}  // namespace
}  // namespace baton
