#include "platform/cuda/gpu_clock.hpp"

#include <algorithm>
#include <chrono>

namespace baton::cuda {

std::int64_t GpuClock::host_now() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void GpuClock::compare(std::span<const Reading> readings) {
  const auto took = [](const Reading& reading) { return reading.answered - reading.asked; };
  const auto best = std::ranges::min_element(readings, {}, took);
  if (best == readings.end()) return;
  const Anchor anchor{best->asked + took(*best) / 2, best->gpu};
  error_ns_ = took(*best) / 2;
  if (newest_ && anchor.host - newest_->host >= kApartNs && anchor.gpu > newest_->gpu) {
    speed_ = static_cast<double>(anchor.host - newest_->host) / static_cast<double>(anchor.gpu - newest_->gpu);
  }
  newest_ = anchor;
}

std::uint64_t GpuClock::host_of(std::uint64_t gpu) const noexcept {
  if (gpu == 0 || !newest_) return 0;
  const auto since = static_cast<double>(static_cast<std::int64_t>(gpu - newest_->gpu));
  return static_cast<std::uint64_t>(newest_->host + static_cast<std::int64_t>(since * speed_));
}

}  // namespace baton::cuda
