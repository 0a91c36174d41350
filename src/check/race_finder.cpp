#include "check/race_finder.hpp"

#include <algorithm>

namespace baton::check {

void RaceFinder::add(const Event& event) {
  // Memory that is not touched costs nothing, moving all of it while it grows does.
  if (kept_.capacity() == 0) kept_.reserve(events_kept_);
  kept_.push_back(event);
  if (kept_.size() < events_kept_) return;
  ordering_.settle(kept_);
  judge(events_kept_ / 2);
}

void RaceFinder::finish() {
  ordering_.settle(kept_);
  judge(kept_.size());
}

Shadow& RaceFinder::shadow_of(std::uint64_t memory) {
  Shadow*& known = shadows_lately_.at(memory, memory);
  if (known == nullptr) known = &shadows_[memory];
  return *known;
}

void RaceFinder::judge(std::size_t count) {
  ordering_.commit(kept_, count, [&](const Event& event, const Stamp& stamp) {
    if (event.kind == Kind::wait) waited_[event.actor].add(event, stamp);
    if (event.kind == Kind::fresh) {
      if (const auto shadow = shadows_.find(event.subject); shadow != shadows_.end()) {
        shadow->second.forget(event.begin, event.end);
      }
    }
    if (event.kind == Kind::access || event.kind == Kind::change || event.kind == Kind::wait) {
      Event access = event;
      if (event.kind != Kind::access) access.use = Use::atomic;
      shadow_of(event.subject).touch(access, stamp, [&](const Touch& earlier, std::uint64_t begin, std::uint64_t end) {
        note({earlier.event, access, earlier.time, stamp.time, begin, end});
      });
    }
  });
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count));
  ordering_.forget_what_is_over();
  const Clock over = ordering_.seen_by_all();
  shadows_lately_.forget_all();
  for (auto at = shadows_.begin(); at != shadows_.end();) {
    at = at->second.forget(over) ? shadows_.erase(at) : std::next(at);
  }
}

void RaceFinder::note(const Race& race) {
  Key key{race.first.place, race.first.use, race.second.place, race.second.use};
  const Key mirrored{race.second.place, race.second.use, race.first.place, race.first.use};
  key = std::min(key, mirrored);
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    ++findings_[known->second].times;
    return;
  }
  numbers_.emplace(key, findings_.size());
  findings_.push_back({race, 1, detour_of(race)});
}

std::optional<Detour> RaceFinder::detour_of(const Race& race) const {
  const auto waits = waited_.find(race.second.actor);
  if (waits == waited_.end()) return std::nullopt;
  for (std::size_t i = 0; i < waits->second.count(); ++i) {
    const Waited& waited = waits->second.before(i);
    const Word* const word = ordering_.word({waited.event.subject, waited.event.begin});
    if (word == nullptr) continue;
    const Waiter waiter{waited.event.actor, waited.stamp.time, *waited.stamp.seen, waited.event.comparison,
                        waited.event.value};
    const auto meant = word->first_that_knows(race.first.actor, race.first_time);
    if (!meant) continue;
    if (auto instead = word->way_without(waiter, race.first.actor, race.first_time)) {
      return Detour{waited.event, *meant, std::move(*instead)};
    }
  }
  return std::nullopt;
}

std::vector<Finding> find_races(const History& history) {
  RaceFinder finder(history.size() + 1);
  for (const Event& event : history) finder.add(event);
  finder.finish();
  return finder.findings();
}

}  // namespace baton::check
