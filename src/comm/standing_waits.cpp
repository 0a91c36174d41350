#include "comm/standing_waits.hpp"

#include "comm/hang_report.hpp"

namespace baton::comm {

void StandingWaits::show(std::span<const StandingWait> waits) {
  watch_.reset();
  entries_.clear();
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
