// The changes of one signal, and what a wait for it guarantees.
//
// A wait for `>= k` has returned because changes added up to k, but which ones they were is chance. It guarantees an
// event only if the changes that can come without that event, and without the wait, add up to less than k. So of each
// actor it acquires the time that the k-th change has, in the order of how much they have seen of that actor: for k = 1
// what all changes have in common, for k = their sum what any of them has. Changes that came later in this run count,
// unless something says that they had to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "check/clock.hpp"

namespace baton::check {

/// A wait as the word sees it: everything with a smaller time of its actor, and what `seen` says, is before it.
struct Waiter {
  Actor actor;
  Time time;
  const Clock& seen;
  WaitCmp comparison;
  std::int64_t value;
};

struct Change {
  Stamp stamp;
  NotifyOp op = NotifyOp::add;
  std::int64_t value = 0;
  std::uint32_t place = 0;
  /// Of all additions of its actor up to it.
  std::int64_t sum = 0;
};

/// What a wait has behind it: the events of a clock, and maybe a change with all that it has seen.
struct Guarantee {
  Clock clock{};
  const Change* change = nullptr;
  /// What those who have changed the word so far change later lets nothing come earlier.
  bool is_final = false;
};

class Word {
 public:
  /// In the order of each actor.
  void add(Change change);
  /// Forgets the changes of each actor after the time last(actor).
  void forget_after(FunctionRef<Time(Actor)> last);
  /// What a change that was added has seen: at most what was assumed. True if it is less.
  bool update(Actor actor, Time time, const std::shared_ptr<const Clock>& seen);
  /// While it is the same, so is what a wait guarantees; where that is final, while this is the same which leaves out
  /// further changes by those who have made some.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  [[nodiscard]] std::uint64_t final_version() const noexcept { return final_version_; }

  [[nodiscard]] Guarantee guaranteed(const Waiter& waiter) const;

  /// Changes that let the wait return without the event `time` of `actor`; nothing if there are none.
  [[nodiscard]] std::optional<std::vector<Change>> way_without(const Waiter& waiter, Actor actor, Time time) const;

  /// The first change that has the event behind it.
  [[nodiscard]] std::optional<Change> first_that_knows(Actor actor, Time time) const;

  /// Changes that everybody has behind them become a part of the first value, or are forgotten.
  void fold(const Clock& seen_by_all);

 private:
  using Changes = std::vector<Change>;
  using Chosen = std::vector<const Change*>;
  /// The changes of one actor.
  struct Sender {
    Actor actor = 0;
    Changes changes;
    std::vector<Time> times;               // of them: beside each other, to be found fast
    mutable std::size_t known_lately = 0;  // what count_known() gave: the next wait knows about as many

    /// Changes that are before the wait.
    [[nodiscard]] std::size_t count_known(const Waiter& waiter) const;
    /// Changes that need not be after it.
    [[nodiscard]] std::size_t count_not_after(const Waiter& waiter) const;
    void forget(std::size_t begin, std::size_t end);
  };
  /// What may come before a wait: all that must, and some of what can.
  struct Ways {
    Chosen known;
    Chosen open;
    std::int64_t value = 0;  // the first one and all additions that are known
    [[nodiscard]] bool suffice(const Waiter& waiter, std::span<const Change* const> some) const;
  };

  [[nodiscard]] Ways ways_to(const Waiter& waiter) const;
  /// Of words that are only added to, and of those that are only set.
  [[nodiscard]] Guarantee guaranteed_by_sum(const Waiter& waiter, std::int64_t least) const;
  [[nodiscard]] Clock guaranteed_by_set(const Waiter& waiter) const;
  [[nodiscard]] Guarantee guaranteed_by_sets_of_one(const Waiter& waiter) const;
  [[nodiscard]] Clock guaranteed_by_all_ways(const Waiter& waiter) const;

  [[nodiscard]] Sender* sender(Actor actor);
  void begin_version() noexcept {
    ++version_;
    ++final_version_;
  }

  /// Lists of the last question, whose memory the next one takes.
  struct Scratch {
    std::vector<std::size_t> counts;
    Chosen known;
    Chosen open;
  };

  std::vector<Sender> senders_;
  mutable Scratch scratch_;
  std::int64_t first_value_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t final_version_ = 0;
  bool has_sets_ = false;
  bool has_additions_ = false;
  bool has_decrements_ = false;
};

}  // namespace baton::check
