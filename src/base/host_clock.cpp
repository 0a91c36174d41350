#include "base/host_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/ticks.hpp"

namespace baton {
namespace {

std::int64_t offset_of(const ClockSample& sample) { return sample.here_ns - sample.there.ns; }

/// The sample that tells most about the moment at which the other clock showed `at_ns`: an older one has had time to
/// become wrong.
const ClockSample& best_for(std::span<const ClockSample> samples, std::int64_t at_ns) {
  return *std::ranges::min_element(samples, {}, [at_ns](const ClockSample& sample) {
    return static_cast<double>(sample.error_ns) + kMostDrift * static_cast<double>(std::abs(sample.there.ns - at_ns));
  });
}

}  // namespace

ClockReading read_clocks() noexcept {
  // A look that was interrupted takes longer than another one.
  constexpr int kLooks = 3;
  ClockReading best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < kLooks; ++i) {
    const std::uint64_t before = ticks();
    const auto ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    const std::uint64_t took = ticks() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, ns};
  }
  return best;
}

HostClock::HostClock(std::span<const ClockSample> samples) noexcept {
  const ClockSample& first = best_for(samples, samples.front().there.ns);
  const ClockSample& last = best_for(samples, samples.back().there.ns);
  const ClockReading& begin = samples.front().there;
  const ClockReading& end = samples.back().there;
  // The two clocks of one host: as far apart as they are known.
  if (end.ticks > begin.ticks && end.ns > begin.ns) {
    ns_per_tick_ = static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks);
  }
  origin_ = first.there;
  offset_ns_ = offset_of(first);
  error_ns_ = std::max(first.error_ns, last.error_ns);
  const std::int64_t change = offset_of(last) - offset_of(first);
  if (std::abs(change) > first.error_ns + last.error_ns && last.there.ns > first.there.ns) {
    drift_ = static_cast<double>(-change) / static_cast<double>(last.there.ns - first.there.ns);
    return;
  }
  // One offset agrees with both: the middle of what both allow. Then times of one host keep their distances.
  const std::int64_t low = std::max(offset_of(first) - first.error_ns, offset_of(last) - last.error_ns);
  const std::int64_t high = std::min(offset_of(first) + first.error_ns, offset_of(last) + last.error_ns);
  offset_ns_ = low + (high - low) / 2;
  const auto farthest = [this](const ClockSample& sample) {
    return std::abs(offset_of(sample) - offset_ns_) + sample.error_ns;
  };
  error_ns_ = std::max(farthest(first), farthest(last));
}

std::int64_t HostClock::here_ns(std::uint64_t ticks_there) const noexcept {
  // Signed: a time may lie before the first sample.
  const auto ticks_since = static_cast<std::int64_t>(ticks_there - origin_.ticks);
  const double since = static_cast<double>(ticks_since) * ns_per_tick_;
  return origin_.ns + offset_ns_ + static_cast<std::int64_t>(since - drift_ * since);
}

}  // namespace baton
