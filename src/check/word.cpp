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
  if (change.op == NotifyOp::set) has_sets_ = true;
  if (change.op == NotifyOp::add) has_additions_ = true;
  if (change.op == NotifyOp::add && change.value < 0) has_decrements_ = true;
  Sender* by = sender(change.stamp.actor);
  if (by == nullptr) {
    by = &senders_.emplace_back();
    by->actor = change.stamp.actor;
  }
  const std::int64_t before = by->changes.empty() ? 0 : by->changes.back().sum;
  change.sum = before + (change.op == NotifyOp::add ? change.value : 0);
  change.number = next_number_++;
  last_lessons_.resize(change.number / kGroup + 1);
  by->times.push_back(change.stamp.time);
  by->changes.push_back(std::move(change));
}

bool Word::update(Actor actor, Time time, const std::shared_ptr<const Clock>& seen) {
  Sender* const by = sender(actor);
  if (by == nullptr) return false;
  const auto at = std::ranges::lower_bound(by->times, time);
  if (at == by->times.end() || *at != time) return false;
  Change& change = by->changes[static_cast<std::size_t>(at - by->times.begin())];
  if (change.stamp.seen == seen) return false;
  const bool is_new = !change.stamp.seen->covers(*seen);
  change.stamp.seen = seen;
  if (is_new) last_lessons_[change.number / kGroup] = ++lessons_;
  return is_new;
}

bool Word::learned_since(std::uint64_t lessons, std::uint32_t first, std::uint32_t last) const {
  if (lessons == lessons_) return false;
  constexpr std::uint32_t kLooks = 16;
  if (last / kGroup - first / kGroup > kLooks) return true;
  for (std::uint32_t group = first / kGroup; group <= last / kGroup; ++group) {
    if (last_lessons_[group] > lessons) return true;
  }
  return false;
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
  // Those that are left are counted anew.
  std::uint32_t first = next_number_;
  for (const Sender& by : senders_) first = std::min(first, by.changes.front().number);
  for (Sender& by : senders_) {
    for (Change& change : by.changes) change.number -= first;
  }
  next_number_ -= first;
  last_lessons_.assign(next_number_ / kGroup + 1, 0);
}

}  // namespace baton::check
