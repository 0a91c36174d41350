// The clock of another host, as this one reads it.
#pragma once

#include <cstdint>
#include <span>

namespace baton {

/// What both clocks of a host show, as nearly at the same moment as can be told: ticks, and CLOCK_MONOTONIC.
struct ClockReading {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};
[[nodiscard]] ClockReading read_clocks() noexcept;

/// The clock of another host showed `there` when that of this one showed `here_ns`, give or take `error_ns`.
struct ClockSample {
  ClockReading there;
  std::int64_t here_ns = 0;
  std::int64_t error_ns = 0;
};

/// Of a question that was sent at `sent_ns`, answered with `there`, and whose answer came at `came_ns`: between the two
/// the other clock was read, nobody knows when.
[[nodiscard]] constexpr ClockSample sample_of(std::int64_t sent_ns, ClockReading there, std::int64_t came_ns) noexcept {
  return {there, sent_ns + (came_ns - sent_ns) / 2, (came_ns - sent_ns + 1) / 2};
}

/// How fast two clocks may drift apart: what quartz does, and the system's corrections of it.
inline constexpr double kMostDrift = 200e-6;

/// Turns times of another host into those of this one, by a line through the two samples that tell most about the
/// begin and the end.
class HostClock {
 public:
  /// `samples`, at least one, by time.
  explicit HostClock(std::span<const ClockSample> samples) noexcept;

  /// CLOCK_MONOTONIC of this host.
  [[nodiscard]] std::int64_t here_ns(std::uint64_t ticks_there) const noexcept;
  /// How wrong that may be, at any time between the samples.
  [[nodiscard]] std::int64_t error_ns() const noexcept { return error_ns_; }
  /// How much faster the other clock goes; 0 if that cannot be told from an error of the samples.
  [[nodiscard]] double drift() const noexcept { return drift_; }

 private:
  ClockReading origin_;
  double ns_per_tick_ = 1.0;
  std::int64_t offset_ns_ = 0;  // of this clock to the other one at `origin_`
  double drift_ = 0;
  std::int64_t error_ns_ = 0;
};

}  // namespace baton
