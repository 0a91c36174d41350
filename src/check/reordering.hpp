// Puts recorded events into an order in which they could have happened.
//
// Events come in the order of their times. The times of two processors differ by some nanoseconds, and a processor may
// read the clock before a load that stands in front of it: so a wait can seem to have ended before the notify that
// ended it. Such an event is held back until what it needed has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>

#include "base/function_ref.hpp"
#include "check/history.hpp"
#include "check/ordering.hpp"

namespace baton::check {

class Reordering {
 public:
  using Give = FunctionRef<void(const Event&)>;

  /// `needs`: of a receive, how often its token must have been handed over.
  void add(const Event& event, std::uint64_t needs, Give give);
  /// After the last event: gives what was held back for something that never came.
  void finish(Give give);

  /// How many events were given although what they needed was not on record.
  [[nodiscard]] std::uint64_t given_up() const noexcept { return given_up_; }

 private:
  struct Held {
    Event event;
    std::uint64_t needs;
  };
  /// An actor is held back as a whole.
  using Line = std::deque<Held>;

  [[nodiscard]] bool may_come(const Held& held) const;
  void take(const Event& event, Give give);
  void release(Give give);
  void release_one(Give give);

  std::map<Actor, Line> lines_;  // those that are held back
  std::size_t held_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> handed_;
  std::map<WordKey, std::int64_t> values_;
  std::uint64_t given_up_ = 0;

  /// More than a difference between clocks can explain.
  static constexpr std::size_t kMostHeld = 1 << 16;
};

}  // namespace baton::check
