// What a wait for a word guarantees.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "check/word.hpp"

namespace baton::check {
namespace {

bool is_before(const Change& a, const Change& b) { return b.stamp[a.stamp.actor] >= a.stamp.time; }

bool is_after(const Change& change, const Waiter& waiter) { return change.stamp[waiter.actor] >= waiter.time; }

bool is_hidden(const Change& change, std::span<const Change* const> others) {
  if (change.op != NotifyOp::set) return false;
  return std::ranges::any_of(others, [&](const Change* later) {
    return later->op == NotifyOp::set && later != &change && is_before(change, *later);
  });
}

/// The least sum that satisfies a comparison by growing alone, if it is one of that kind.
std::optional<std::int64_t> least_sum(const Waiter& waiter) {
  if (waiter.comparison == WaitCmp::ge) return waiter.value;
  if (waiter.comparison == WaitCmp::gt) return waiter.value + 1;
  return std::nullopt;
}

/// All values that `first` can become by some of the additions. Nothing if they are too many to follow.
std::optional<std::set<std::int64_t>> sums_of(std::int64_t first, std::span<const Change* const> some) {
  constexpr std::size_t kMost = 4096;
  std::set<std::int64_t> sums{first};
  for (std::size_t i = 0; i < some.size();) {
    // Additions of one actor come in their order.
    const Actor actor = some[i]->stamp.actor;
    std::set<std::int64_t> next = sums;
    std::int64_t sum = 0;
    for (; i < some.size() && some[i]->stamp.actor == actor; ++i) {
      if (some[i]->op != NotifyOp::add) continue;
      sum += some[i]->value;
      for (const std::int64_t earlier : sums) next.insert(earlier + sum);
      if (next.size() > kMost) return std::nullopt;
    }
    sums = std::move(next);
  }
  return sums;
}

template <class T>
void sort_and_unite(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Calls visit(actor) for each actor of which one of the changes has seen more than the waiter.
template <class Visit>
void for_each_news(const Waiter& waiter, std::span<const Change* const> changes, Visit visit) {
  std::vector<std::size_t> blocks;
  std::vector<Actor> senders;
  for (const Change* change : changes) {
    for (const Clock::Part& part : change->stamp.seen->parts()) {
      if (waiter.seen.block_at(part.index) != part.block.get()) blocks.push_back(part.index);
    }
    senders.push_back(change->stamp.actor);
  }
  sort_and_unite(blocks);
  sort_and_unite(senders);
  for (const Actor sender : senders) visit(sender);
  for (const std::size_t index : blocks) {
    const Clock::Block* mine = waiter.seen.block_at(index);
    std::array<bool, Clock::kBlock> has_news{};
    for (const Change* change : changes) {
      const Clock::Block* theirs = change->stamp.seen->block_at(index);
      if (theirs == nullptr || theirs == mine) continue;
      for (std::size_t i = 0; i < Clock::kBlock; ++i) {
        if ((*theirs)[i] > (mine == nullptr ? 0 : (*mine)[i])) has_news[i] = true;
      }
    }
    for (std::size_t i = 0; i < Clock::kBlock; ++i) {
      const auto actor = static_cast<Actor>(index * Clock::kBlock + i);
      if (has_news[i] && !std::ranges::binary_search(senders, actor)) visit(actor);
    }
  }
}

/// What all of them have behind them, and they themselves.
Clock join_all(std::span<const Change* const> changes) {
  Clock all;
  for (const Change* change : changes) change->stamp.join_to(all);
  return all;
}

}  // namespace

std::size_t Word::Sender::count_known(const Waiter& waiter) const {
  const Time last = actor == waiter.actor ? waiter.time : waiter.seen[actor];
  constexpr int kNear = 8;
  std::size_t at = std::min(known_lately, times.size());
  for (int step = 0; step < kNear; ++step) {
    if (at < times.size() && times[at] <= last) {
      ++at;
    } else if (at > 0 && times[at - 1] > last) {
      --at;
    } else {
      return known_lately = at;
    }
  }
  return known_lately = static_cast<std::size_t>(std::ranges::upper_bound(times, last) - times.begin());
}

std::size_t Word::Sender::count_not_after(const Waiter& waiter) const {
  const auto end =
      std::ranges::partition_point(changes, [&](const Change& change) { return !is_after(change, waiter); });
  return static_cast<std::size_t>(end - changes.begin());
}

Word::Ways Word::ways_to(const Waiter& waiter) const {
  Ways ways;
  ways.value = first_value_;
  for (const Sender& by : senders_) {
    const std::size_t known = by.count_known(waiter);
    const std::size_t end = std::max(known, by.count_not_after(waiter));
    for (std::size_t i = 0; i < end; ++i) (i < known ? ways.known : ways.open).push_back(&by.changes[i]);
  }
  for (const Change* change : ways.known) ways.value += change->op == NotifyOp::add ? change->value : 0;
  // Of what must have come before, a set hides the sets that were before it.
  const Chosen all = ways.known;
  std::erase_if(ways.known, [&](const Change* change) { return is_hidden(*change, all); });
  return ways;
}

bool Word::Ways::suffice(const Waiter& waiter, std::span<const Change* const> some) const {
  const auto reaches = [&](std::int64_t from, std::span<const Change* const> additions) {
    if (const auto least = least_sum(waiter)) {
      std::int64_t most = from;
      for (const Change* change : additions)
        most += change->op == NotifyOp::add ? std::max<std::int64_t>(change->value, 0) : 0;
      return most >= *least;
    }
    const auto sums = sums_of(from, additions);
    return !sums ||
           std::ranges::any_of(*sums, [&](std::int64_t sum) { return holds(sum, waiter.comparison, waiter.value); });
  };
  const auto is_set = [](const Change* change) { return change->op == NotifyOp::set; };
  if (std::ranges::none_of(known, is_set) && reaches(value, some)) return true;
  const auto from_set = [&](const Change* set) {
    if (!is_set(set)) return false;
    Chosen additions;
    const auto add = [&](const Change* change) {
      if (!is_set(change) && !is_before(*change, *set)) additions.push_back(change);
    };
    std::ranges::for_each(known, add);
    std::ranges::for_each(some, add);
    return reaches(set->value, additions);
  };
  return std::ranges::any_of(known, from_set) || std::ranges::any_of(some, from_set);
}

Guarantee Word::guaranteed_by_sum(const Waiter& waiter, std::int64_t least) const {
  std::vector<std::size_t>& known = scratch_.counts;
  known.clear();
  std::int64_t missing = least - first_value_;
  for (const Sender& by : senders_) {
    known.push_back(by.count_known(waiter));
    if (known.back() != 0) missing -= by.changes[known.back() - 1].sum;
  }
  if (missing <= 0) return {.is_final = true};
  Chosen& open = scratch_.open;
  open.clear();
  std::int64_t total = 0;
  bool is_final = true;
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    std::int64_t sum = 0;
    bool is_enough = false;
    // Where one actor has changed enough, what it does later has seen more, and lets nothing come earlier.
    for (const Change& change : std::span(senders_[i].changes).subspan(known[i])) {
      is_enough = is_after(change, waiter);
      if (is_enough) break;
      sum += change.value;
      open.push_back(&change);
      is_enough = sum >= missing;
      if (is_enough) break;
    }
    is_final = is_final && is_enough;
    total += sum;
  }
  if (open.size() == 1 && total >= missing) return {.change = open.front(), .is_final = is_final};
  // Where too few changes are on record, all of them were needed, and something else.
  if (total <= missing) return {.clock = join_all(open), .is_final = is_final};
  Clock result;
  std::vector<std::pair<Time, std::int64_t>> order;
  for_each_news(waiter, open, [&](Actor actor) {
    order.clear();
    for (const Change* change : open) order.emplace_back(change->stamp[actor], change->value);
    std::ranges::sort(order);
    std::int64_t sum = 0;
    const auto last = std::ranges::find_if(order, [&](const auto& entry) { return (sum += entry.second) >= missing; });
    result.raise(actor, last->first);
  });
  return {.clock = std::move(result), .is_final = is_final};
}

Guarantee Word::guaranteed_by_sets_of_one(const Waiter& waiter) const {
  const Sender& by = senders_.front();
  const auto satisfies = [&](const Change& change) { return holds(change.value, waiter.comparison, waiter.value); };
  const auto later = by.changes.begin() + static_cast<std::ptrdiff_t>(by.count_known(waiter));
  const std::int64_t before = later == by.changes.begin() ? first_value_ : std::prev(later)->value;
  if (holds(before, waiter.comparison, waiter.value)) return {.is_final = true};
  const auto first = std::find_if(later, by.changes.end(), satisfies);
  if (first == by.changes.end()) return {};
  if (is_after(*first, waiter)) return {.is_final = true};
  return {.change = &*first, .is_final = true};
}

Clock Word::guaranteed_by_set(const Waiter& waiter) const {
  const auto satisfies = [&](std::int64_t value) { return holds(value, waiter.comparison, waiter.value); };
  Chosen& known = scratch_.known;  // the last of each actor: it hides those before it
  Chosen& open = scratch_.open;    // the first of each actor that satisfies the wait: the later ones have seen more
  known.clear();
  open.clear();
  for (const Sender& by : senders_) {
    const std::size_t count = by.count_known(waiter);
    if (count != 0) known.push_back(&by.changes[count - 1]);
    const auto later = std::span(by.changes).subspan(count);
    const auto first = std::ranges::find_if(later, satisfies, &Change::value);
    if (first != later.end() && !is_after(*first, waiter)) open.push_back(&*first);
  }
  if (known.empty() && satisfies(first_value_)) return {};
  for (const Change* change : known) {
    if (satisfies(change->value) && !is_hidden(*change, known)) return {};
  }
  // What all of them have in common.
  Clock result;
  bool is_first = true;
  for (const Change* change : open) {
    const Clock one = join_all({&change, 1});
    if (std::exchange(is_first, false)) {
      result = one;
    } else {
      result.meet(one);
    }
  }
  return result;
}

Guarantee Word::guaranteed(const Waiter& waiter) const {
  if (senders_.empty()) return {};
  if (const auto least = least_sum(waiter); least && !has_sets_ && !has_decrements_) {
    return guaranteed_by_sum(waiter, *least);
  }
  if (has_additions_) return {.clock = guaranteed_by_all_ways(waiter)};
  if (senders_.size() == 1) return guaranteed_by_sets_of_one(waiter);
  return {.clock = guaranteed_by_set(waiter)};
}

Clock Word::guaranteed_by_all_ways(const Waiter& waiter) const {
  const Ways ways = ways_to(waiter);
  if (ways.open.empty() || ways.suffice(waiter, {})) return {};
  Clock result;
  std::vector<Time> times;
  Chosen some;
  for_each_news(waiter, ways.open, [&](Actor actor) {
    times.clear();
    for (const Change* change : ways.open) times.push_back(change->stamp[actor]);
    sort_and_unite(times);
    // The last time without which the wait could not return.
    const auto needed = std::ranges::partition_point(times, [&](Time time) {
      some.clear();
      for (const Change* change : ways.open) {
        if (change->stamp[actor] < time) some.push_back(change);
      }
      return !ways.suffice(waiter, some);
    });
    if (needed != times.begin()) result.raise(actor, *std::prev(needed));
  });
  return result;
}

std::optional<std::vector<Change>> Word::way_without(const Waiter& waiter, Actor actor, Time time) const {
  const Ways ways = ways_to(waiter);
  Chosen some;
  for (const Change* change : ways.open) {
    if (change->stamp[actor] < time) some.push_back(change);
  }
  if (!ways.suffice(waiter, some)) return std::nullopt;
  Changes way;
  for (const Change* change : some) way.push_back(*change);
  return way;
}

}  // namespace baton::check
