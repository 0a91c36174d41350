// A clock that costs a few nanoseconds: the processor's own counter.
#pragma once

#include <chrono>
#include <cstdint>

namespace baton {

/// Grows evenly, and the same on all processors. Its unit is the machine's.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#elif defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Ticks as nanoseconds of the steady clock. It learns the unit from the time that passes between its making and
/// calibrate().
class TickScale {
 public:
  TickScale() noexcept;
  /// The longer after the making, the better.
  void calibrate() noexcept;
  [[nodiscard]] std::int64_t nanoseconds(std::uint64_t at) const noexcept;

 private:
  std::uint64_t first_ticks_;
  std::int64_t first_ns_;
  double ns_per_tick_ = 1.0;
};

/// A scale that began with the program, calibrated now: for times that somebody else has noted.
[[nodiscard]] TickScale scale_since_start() noexcept;

}  // namespace baton
