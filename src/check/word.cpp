#include "check/word.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace baton::check {
namespace {

/// Of one actor's changes: those that are before the wait, and those that are after it.
std::size_t count_known(const std::vector<Change>& changes, const Waiter& waiter) {
  const Actor actor = changes.front().stamp.actor;
  const Time last = actor == waiter.actor ? waiter.time : waiter.seen[actor];
  return static_cast<std::size_t>(
      std::ranges::partition_point(changes, [&](const Change& change) { return change.stamp.time <= last; }) -
      changes.begin());
}

std::size_t count_not_after(const std::vector<Change>& changes, const Waiter& waiter) {
  return static_cast<std::size_t>(
      std::ranges::partition_point(changes,
                                   [&](const Change& change) { return change.stamp[waiter.actor] < waiter.time; }) -
      changes.begin());
}

bool is_before(const Change& a, const Change& b) { return b.stamp[a.stamp.actor] >= a.stamp.time; }

bool is_hidden(const Change& change, std::span<const Change> others) {
  if (change.op != NotifyOp::set) return false;
  return std::ranges::any_of(others, [&](const Change& later) {
    const bool is_itself = later.stamp.actor == change.stamp.actor && later.stamp.time == change.stamp.time;
    return later.op == NotifyOp::set && !is_itself && is_before(change, later);
  });
}

/// The least sum that satisfies a comparison by growing alone, if it is one of that kind.
std::optional<std::int64_t> least_sum(const Waiter& waiter) {
  if (waiter.comparison == WaitCmp::ge) return waiter.value;
  if (waiter.comparison == WaitCmp::gt) return waiter.value + 1;
  return std::nullopt;
}

/// All values that `first` can become by some of the additions. Nothing if they are too many to follow.
std::optional<std::set<std::int64_t>> sums_of(std::int64_t first, std::span<const Change> some) {
  constexpr std::size_t kMost = 4096;
  std::set<std::int64_t> sums{first};
  for (std::size_t i = 0; i < some.size();) {
    // Additions of one actor come in their order.
    const Actor actor = some[i].stamp.actor;
    std::set<std::int64_t> next = sums;
    std::int64_t sum = 0;
    for (; i < some.size() && some[i].stamp.actor == actor; ++i) {
      if (some[i].op != NotifyOp::add) continue;
      sum += some[i].value;
      for (const std::int64_t earlier : sums) next.insert(earlier + sum);
      if (next.size() > kMost) return std::nullopt;
    }
    sums = std::move(next);
  }
  return sums;
}

/// Calls visit(actor) for each actor of which one of the changes has seen more than the waiter.
template <class Visit>
void for_each_news(const Waiter& waiter, std::span<const Change> changes, Visit visit) {
  std::set<std::size_t> blocks;
  std::set<Actor> senders;
  for (const Change& change : changes) {
    for (const Clock::Part& part : change.stamp.seen->parts()) {
      if (waiter.seen.block_at(part.index) != part.block.get()) blocks.insert(part.index);
    }
    senders.insert(change.stamp.actor);
  }
  for (const Actor sender : senders) visit(sender);
  for (const std::size_t index : blocks) {
    const Clock::Block* mine = waiter.seen.block_at(index);
    std::array<bool, Clock::kBlock> has_news{};
    for (const Change& change : changes) {
      const Clock::Block* theirs = change.stamp.seen->block_at(index);
      if (theirs == nullptr || theirs == mine) continue;
      for (std::size_t i = 0; i < Clock::kBlock; ++i) {
        if ((*theirs)[i] > (mine == nullptr ? 0 : (*mine)[i])) has_news[i] = true;
      }
    }
    for (std::size_t i = 0; i < Clock::kBlock; ++i) {
      const auto actor = static_cast<Actor>(index * Clock::kBlock + i);
      if (has_news[i] && !senders.contains(actor)) visit(actor);
    }
  }
}

}  // namespace

void Word::add(Change change) {
  if (change.op == NotifyOp::set) has_sets_ = true;
  if (change.op == NotifyOp::add) has_additions_ = true;
  if (change.op == NotifyOp::add && change.value < 0) has_decrements_ = true;
  const auto found = std::ranges::find_if(
      senders_, [&](const Changes& changes) { return changes.front().stamp.actor == change.stamp.actor; });
  Changes& changes = found == senders_.end() ? senders_.emplace_back() : *found;
  const std::int64_t before = changes.empty() ? 0 : changes.back().sum;
  change.sum = before + (change.op == NotifyOp::add ? change.value : 0);
  changes.push_back(std::move(change));
}

bool Word::update(Actor actor, Time time, const std::shared_ptr<const Clock>& seen) {
  const auto changes =
      std::ranges::find_if(senders_, [actor](const Changes& of_one) { return of_one.front().stamp.actor == actor; });
  if (changes == senders_.end()) return false;
  const auto at = std::ranges::lower_bound(*changes, time, {}, [](const Change& change) { return change.stamp.time; });
  if (at == changes->end() || at->stamp.time != time) return false;
  const bool is_new = !at->stamp.seen->covers(*seen);
  at->stamp.seen = seen;
  return is_new;
}

Word::Ways Word::ways_to(const Waiter& waiter) const {
  Ways ways;
  ways.value = first_value_;
  for (const Changes& changes : senders_) {
    const auto known = static_cast<std::ptrdiff_t>(count_known(changes, waiter));
    const auto end = std::max(known, static_cast<std::ptrdiff_t>(count_not_after(changes, waiter)));
    ways.known.insert(ways.known.end(), changes.begin(), changes.begin() + known);
    ways.open.insert(ways.open.end(), changes.begin() + known, changes.begin() + end);
  }
  for (const Change& change : ways.known) ways.value += change.op == NotifyOp::add ? change.value : 0;
  // Of what must have come before, a set hides the sets that were before it.
  const Changes all = ways.known;
  std::erase_if(ways.known, [&](const Change& change) { return is_hidden(change, all); });
  return ways;
}

bool Word::Ways::suffice(const Waiter& waiter, std::span<const Change> some) const {
  const auto reaches = [&](std::int64_t from, std::span<const Change> additions) {
    if (const auto least = least_sum(waiter)) {
      std::int64_t most = from;
      for (const Change& change : additions)
        most += change.op == NotifyOp::add ? std::max<std::int64_t>(change.value, 0) : 0;
      return most >= *least;
    }
    const auto sums = sums_of(from, additions);
    return !sums ||
           std::ranges::any_of(*sums, [&](std::int64_t sum) { return holds(sum, waiter.comparison, waiter.value); });
  };
  const auto is_set = [](const Change& change) { return change.op == NotifyOp::set; };
  if (std::ranges::none_of(known, is_set) && reaches(value, some)) return true;
  const auto from_set = [&](const Change& set) {
    if (!is_set(set)) return false;
    Changes additions;
    for (const Change& change : known) {
      if (!is_set(change) && !is_before(change, set)) additions.push_back(change);
    }
    for (const Change& change : some) {
      if (!is_set(change) && !is_before(change, set)) additions.push_back(change);
    }
    return reaches(set.value, additions);
  };
  return std::ranges::any_of(known, from_set) || std::ranges::any_of(some, from_set);
}

Clock Word::guaranteed_by_sum(const Waiter& waiter, std::int64_t least) const {
  std::int64_t missing = least - first_value_;
  for (const Changes& changes : senders_) {
    const std::size_t known = count_known(changes, waiter);
    if (known != 0) missing -= changes[known - 1].sum;
  }
  Clock result;
  if (missing <= 0) return result;
  Changes open;
  for (const Changes& changes : senders_) {
    const std::size_t end = count_not_after(changes, waiter);
    std::int64_t sum = 0;
    // Where one actor has changed enough, what it does later has seen more, and lets nothing come earlier.
    for (std::size_t i = count_known(changes, waiter); i < end && sum < missing; ++i) {
      sum += changes[i].value;
      open.push_back(changes[i]);
    }
  }
  std::vector<std::pair<Time, std::int64_t>> order;
  for_each_news(waiter, open, [&](Actor actor) {
    order.clear();
    for (const Change& change : open) order.emplace_back(change.stamp[actor], change.value);
    std::ranges::sort(order);
    std::int64_t sum = 0;
    const auto last = std::ranges::find_if(order, [&](const auto& entry) { return (sum += entry.second) >= missing; });
    // Where too few changes are on record, all of them were needed, and something else.
    result.raise(actor, last == order.end() ? order.back().first : last->first);
  });
  return result;
}

Clock Word::guaranteed_by_set(const Waiter& waiter) const {
  const auto satisfies = [&](std::int64_t value) { return holds(value, waiter.comparison, waiter.value); };
  Changes known;  // the last of each actor: it hides those before it
  Changes open;   // the first of each actor that satisfies the wait: the later ones have seen more
  for (const Changes& changes : senders_) {
    const std::size_t count = count_known(changes, waiter);
    if (count != 0) known.push_back(changes[count - 1]);
    const std::size_t end = count_not_after(changes, waiter);
    for (std::size_t i = count; i < end; ++i) {
      if (!satisfies(changes[i].value)) continue;
      open.push_back(changes[i]);
      break;
    }
  }
  Clock result;
  if (known.empty() && satisfies(first_value_)) return result;
  for (const Change& change : known) {
    if (satisfies(change.value) && !is_hidden(change, known)) return result;
  }
  if (open.size() == 1) {
    result = *open.front().stamp.seen;
    result.raise(open.front().stamp.actor, open.front().stamp.time);
    return result;
  }
  for_each_news(waiter, open, [&](Actor actor) {
    Time least = std::numeric_limits<Time>::max();
    for (const Change& change : open) least = std::min(least, change.stamp[actor]);
    result.raise(actor, least);
  });
  return result;
}

Clock Word::guaranteed(const Waiter& waiter) const {
  if (senders_.empty()) return {};
  if (const auto least = least_sum(waiter); least && !has_sets_ && !has_decrements_) {
    return guaranteed_by_sum(waiter, *least);
  }
  if (!has_additions_) return guaranteed_by_set(waiter);
  const Ways ways = ways_to(waiter);
  Clock result;
  if (ways.open.empty() || ways.suffice(waiter, {})) return result;
  std::vector<Time> times;
  Changes some;
  for_each_news(waiter, ways.open, [&](Actor actor) {
    times.clear();
    for (const Change& change : ways.open) times.push_back(change.stamp[actor]);
    std::ranges::sort(times);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    // The last time without which the wait could not return.
    const auto needed = std::ranges::partition_point(times, [&](Time time) {
      some.clear();
      for (const Change& change : ways.open) {
        if (change.stamp[actor] < time) some.push_back(change);
      }
      return !ways.suffice(waiter, some);
    });
    if (needed != times.begin()) result.raise(actor, *std::prev(needed));
  });
  return result;
}

std::optional<std::vector<Change>> Word::way_without(const Waiter& waiter, Actor actor, Time time) const {
  const Ways ways = ways_to(waiter);
  Changes some;
  for (const Change& change : ways.open) {
    if (change.stamp[actor] < time) some.push_back(change);
  }
  if (!ways.suffice(waiter, some)) return std::nullopt;
  return some;
}

std::optional<Change> Word::first_that_knows(Actor actor, Time time) const {
  for (const Changes& changes : senders_) {
    const auto found =
        std::ranges::partition_point(changes, [&](const Change& change) { return change.stamp[actor] < time; });
    if (found != changes.end()) return *found;
  }
  return std::nullopt;
}

void Word::fold(const Clock& seen_by_all) {
  const auto is_over = [&](const Change& change) {
    return change.stamp.time <= seen_by_all[change.stamp.actor] && seen_by_all.covers(*change.stamp.seen);
  };
  for (Changes& changes : senders_) {
    const auto end = std::ranges::partition_point(changes, is_over);
    if (end == changes.begin()) continue;
    if (!has_sets_) {
      first_value_ += std::prev(end)->sum;
      const std::int64_t folded = std::prev(end)->sum;
      changes.erase(changes.begin(), end);
      for (Change& change : changes) change.sum -= folded;
    } else if (std::all_of(changes.begin(), end, [](const Change& change) { return change.op == NotifyOp::set; })) {
      // The last one hides those before it.
      changes.erase(changes.begin(), std::prev(end));
    }
  }
  std::erase_if(senders_, [](const Changes& changes) { return changes.empty(); });
}

}  // namespace baton::check
