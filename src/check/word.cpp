#include "check/word.hpp"

#include <algorithm>
#include <utility>

namespace baton::check {

void Word::Sender::forget(std::size_t begin, std::size_t end) {
  const auto erase = [&](auto& values) {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(begin),
                 values.begin() + static_cast<std::ptrdiff_t>(end));
  };
  erase(changes);
  erase(times);
}

Word::Sender* Word::sender(Actor actor) {
  const auto found = std::ranges::find(senders_, actor, &Sender::actor);
  return found == senders_.end() ? nullptr : &*found;
}

void Word::add(Change change) {
  const bool had_sets = has_sets_;
  const bool had_additions = has_additions_;
  const bool had_decrements = has_decrements_;
  if (change.op == NotifyOp::set) has_sets_ = true;
  if (change.op == NotifyOp::add) has_additions_ = true;
  if (change.op == NotifyOp::add && change.value < 0) has_decrements_ = true;
  Sender* by = sender(change.stamp.actor);
  if (by == nullptr) {
    by = &senders_.emplace_back();
    by->actor = change.stamp.actor;
    ++final_version_;
  }
  // What it was like says how a wait is looked at.
  if (had_sets != has_sets_ || had_additions != has_additions_ || had_decrements != has_decrements_) ++final_version_;
  const std::int64_t before = by->changes.empty() ? 0 : by->changes.back().sum;
  change.sum = before + (change.op == NotifyOp::add ? change.value : 0);
  ++version_;
  by->times.push_back(change.stamp.time);
  by->changes.push_back(std::move(change));
}

bool Word::update(Actor actor, Time time, const std::shared_ptr<const Clock>& seen) {
  Sender* const by = sender(actor);
  if (by == nullptr) return false;
  const auto at = std::ranges::lower_bound(by->times, time);
  if (at == by->times.end() || *at != time) return false;
  Change& change = by->changes[static_cast<std::size_t>(at - by->times.begin())];
  if (change.stamp.seen == seen || *change.stamp.seen == *seen) return false;
  if (change.stamp.seen->covers(*seen)) {
    change.stamp.seen = seen;
  } else {
    auto both = make_clock(*seen);
    both->meet(*change.stamp.seen);
    if (*both == *change.stamp.seen) return false;
    change.stamp.seen = std::move(both);
  }
  begin_version();
  return true;
}

void Word::forget_after(FunctionRef<Time(Actor)> last) {
  for (Sender& by : senders_) {
    const auto kept = std::ranges::upper_bound(by.times, last(by.actor));
    by.forget(static_cast<std::size_t>(kept - by.times.begin()), by.times.size());
  }
  std::erase_if(senders_, [](const Sender& by) { return by.changes.empty(); });
  begin_version();
}

std::optional<Change> Word::first_that_knows(Actor actor, Time time) const {
  for (const Sender& by : senders_) {
    const auto found =
        std::ranges::partition_point(by.changes, [&](const Change& change) { return change.stamp[actor] < time; });
    if (found != by.changes.end()) return *found;
  }
  return std::nullopt;
}

void Word::fold(const Clock& seen_by_all) {
  const auto is_over = [&](const Change& change) {
    return change.stamp.time <= seen_by_all[change.stamp.actor] && seen_by_all.covers(*change.stamp.seen);
  };
  const auto is_set = [](const Change& change) { return change.op == NotifyOp::set; };
  for (Sender& by : senders_) {
    const auto end = std::ranges::partition_point(by.changes, is_over);
    const auto count = static_cast<std::size_t>(end - by.changes.begin());
    if (count == 0) continue;
    if (!has_sets_) {
      const std::int64_t folded = std::prev(end)->sum;
      first_value_ += folded;
      by.forget(0, count);
      for (Change& change : by.changes) change.sum -= folded;
    } else if (std::all_of(by.changes.begin(), end, is_set)) {
      // The last one hides those before it.
      by.forget(0, count - 1);
    }
  }
  std::erase_if(senders_, [](const Sender& by) { return by.changes.empty(); });
}

}  // namespace baton::check
