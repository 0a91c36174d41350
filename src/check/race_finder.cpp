#include "check/race_finder.hpp"

#include <algorithm>

namespace baton::check {
namespace {

/// The index of an actor's event number `time`, if it is among the kept ones, of which `judged` came before.
std::optional<std::size_t> index_of(const History& kept, Actor actor, Time time, Time judged) {
  if (time <= judged) return std::nullopt;
  Time left = time - judged;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].actor == actor && --left == 0) return i;
  }
  return std::nullopt;
}

}  // namespace

void RaceFinder::add(const Event& event) {
  kept_.push_back(event);
  if (kept_.size() < events_kept_) return;
  ordering_.settle(kept_);
  judge(events_kept_ / 2);
}

void RaceFinder::finish() {
  ordering_.settle(kept_);
  judge(kept_.size());
}

void RaceFinder::judge(std::size_t count) {
  constexpr std::size_t kWaits = 16;
  std::size_t index = 0;
  ordering_.commit(kept_, count, [&](const Event& event, const Stamp& stamp) {
    if (event.kind == Kind::wait) {
      std::deque<Waited>& waits = waited_[event.actor];
      waits.push_front({event, stamp});
      if (waits.size() > kWaits) waits.pop_back();
    }
    if (event.kind == Kind::fresh) {
      if (const auto shadow = shadows_.find(event.subject); shadow != shadows_.end()) {
        shadow->second.forget(event.begin, event.end);
      }
    }
    if (event.kind == Kind::access || event.kind == Kind::change || event.kind == Kind::wait) {
      Event access = event;
      if (event.kind != Kind::access) access.use = Use::atomic;
      shadows_[event.subject].touch(access, stamp, [&](const Touch& earlier, std::uint64_t begin, std::uint64_t end) {
        note({earlier.event, access, earlier.time, stamp.time, begin, end}, index);
      });
    }
    ++index;
  });
  runs_.reset();
  for (std::size_t i = 0; i < count; ++i) {
    const Event& event = kept_[i];
    ++judged_[event.actor];
    if (event.kind != Kind::change) continue;
    std::int64_t& value = first_values_[{event.subject, event.begin}];
    value = event.op == NotifyOp::add ? value + event.value : event.value;
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count));
  ordering_.forget_what_is_over();
  const Clock over = ordering_.seen_by_all();
  for (auto at = shadows_.begin(); at != shadows_.end();) {
    at = at->second.forget(over) ? shadows_.erase(at) : std::next(at);
  }
}

void RaceFinder::note(const Race& race, std::size_t second_index) {
  Key key{race.first.place, race.first.use, race.second.place, race.second.use};
  const Key mirrored{race.second.place, race.second.use, race.first.place, race.first.use};
  key = std::min(key, mirrored);
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    ++findings_[known->second].times;
    return;
  }
  // A run takes time: where some of two places have turned out to be ordered, so are the others. They are more the
  // shorter the history is: in a short one, such as that of a few collectives, the same two places do all.
  constexpr std::size_t kLong = std::size_t{1} << 16U;
  constexpr std::size_t kRunsOfLong = 64;
  std::size_t& looked_at = ordered_[key];
  if (looked_at >= kRunsOfLong * kLong) return;
  if (!is_possible(race, second_index)) {
    looked_at += std::min(kept_.size(), kLong);
    return;
  }
  numbers_.emplace(key, findings_.size());
  findings_.push_back({race, 1, detour_of(race)});
}

bool RaceFinder::is_possible(const Race& race, std::size_t second_index) {
  const auto judged = judged_.find(race.first.actor);
  const auto first_index =
      index_of(kept_, race.first.actor, race.first_time, judged == judged_.end() ? 0 : judged->second);
  if (!first_index) return true;
  if (!runs_) runs_.emplace(kept_, first_values_);
  return runs_->reaches_without(second_index, *first_index) && runs_->reaches_without(*first_index, second_index);
}

std::optional<Detour> RaceFinder::detour_of(const Race& race) const {
  const auto waits = waited_.find(race.second.actor);
  if (waits == waited_.end()) return std::nullopt;
  for (const Waited& waited : waits->second) {
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
