#include "comm/standing_waits.hpp"

#include "comm/hang_report.hpp"

namespace baton::comm {

void StandingWaits::count_others(std::size_t count) noexcept {
  // Relaxed: it is for reports. Wraps round where there are fewer than before.
  const auto change = static_cast<std::uint32_t>(count) - static_cast<std::uint32_t>(others_);
  world_.block(world_.rank()).unlisted_waits.fetch_add(change, std::memory_order_relaxed);
  others_ = count;
}

void StandingWaits::show(std::span<const StandingWait> waits, std::size_t others) {
  watch_.reset();
  entries_.clear();
  count_others(others);
  if (waits.empty()) return;
  for (const StandingWait& wait : waits) {
    entries_.emplace_back().begin(world_.block(world_.rank()), wait.what, *wait.domain);
  }
  watch_.emplace(world_.control(), deadline_);
  watch_->begin();
}

Deadline::Clock::time_point StandingWaits::next_look() const {
  return watch_ ? watch_->next().when() : Deadline::Clock::time_point::max();
}

void StandingWaits::look() {
  if (watch_ && watch_->look()) tell_deadlock(world_);
}

}  // namespace baton::comm
