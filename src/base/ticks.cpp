#include "base/ticks.hpp"

namespace baton {
namespace {

std::int64_t steady_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The longer it is made before it is used, the better.
const TickScale kSinceStart;

}  // namespace

TickScale scale_since_start() noexcept {
  TickScale scale = kSinceStart;
  scale.calibrate();
  return scale;
}

TickScale::TickScale() noexcept : first_ticks_(ticks()), first_ns_(steady_ns()) {}

void TickScale::calibrate() noexcept {
  const std::uint64_t now_ticks = ticks();
  const std::int64_t now_ns = steady_ns();
  if (now_ticks == first_ticks_) return;
  ns_per_tick_ = static_cast<double>(now_ns - first_ns_) / static_cast<double>(now_ticks - first_ticks_);
}

std::int64_t TickScale::nanoseconds(std::uint64_t at) const noexcept {
  // Signed: a time may lie before the making.
  const auto since = static_cast<std::int64_t>(at - first_ticks_);
  return first_ns_ + static_cast<std::int64_t>(static_cast<double>(since) * ns_per_tick_);
}

}  // namespace baton
