// Times of the monotonic clock in nanoseconds, and sleeping until one.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace delay {

using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds kSecond = 1'000'000'000;

[[nodiscard]] inline Nanoseconds in_nanoseconds(const timespec& time) noexcept {
  return static_cast<Nanoseconds>(time.tv_sec) * kSecond + time.tv_nsec;
}
[[nodiscard]] inline timespec as_timespec(Nanoseconds time) noexcept { return {time / kSecond, time % kSecond}; }

[[nodiscard]] inline Nanoseconds clock_now(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return in_nanoseconds(time);
}
[[nodiscard]] inline Nanoseconds now() noexcept { return clock_now(CLOCK_MONOTONIC); }

/// Sleeps until a moment and returns soon after it: it asks to be woken as much earlier as it woke late before, and
/// looks at the clock for the rest.
class Alarm {
 public:
  void be_up_at(Nanoseconds moment) noexcept {
    const Nanoseconds asked = moment - late_;
    if (asked > now()) {
      const timespec time = as_timespec(asked);
      if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == 0) {
        late_ += (std::min(now() - asked, kLongestLook) - late_) / kSlowness;
      }
    }
    while (now() < moment) {
    }
  }

 private:
  static constexpr Nanoseconds kLongestLook = 40'000;  // a processor is lost to others for no longer
  static constexpr Nanoseconds kSlowness = 8;
  Nanoseconds late_ = 0;
};

}  // namespace delay
