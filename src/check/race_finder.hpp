// Finds races in a history that comes piece by piece.
//
// Memory is bounded by the number of events that are kept: when they are full, the older half is judged and forgotten.
// A change of a signal counts for a wait that came before it as long as both are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "check/history.hpp"
#include "check/ordering.hpp"
#include "check/shadow.hpp"

namespace baton::check {

/// A wait that was meant to order two accesses and does not: it can return without what it waits for.
struct Detour {
  Event wait;
  /// The change that was meant.
  Change meant;
  /// Those that satisfy the wait without it.
  std::vector<Change> instead;
};

struct Finding {
  Race race;
  /// How often these two places raced.
  std::uint64_t times = 1;
  std::optional<Detour> detour;
};

class RaceFinder {
 public:
  static constexpr std::size_t kEventsKept = std::size_t{1} << 20U;

  explicit RaceFinder(std::size_t events_kept = kEventsKept) : events_kept_(events_kept) {}

  /// An actor that begins without anything behind it, such as a rank: what it has not seen is kept for it.
  void enter(Actor actor) { ordering_.enter(actor); }
  /// An actor does no more.
  void leave(Actor actor) { ordering_.leave(actor); }
  void add(const Event& event);
  /// After the last event.
  void finish();

  /// Each pair of places once.
  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }

 private:
  using Key = std::tuple<std::uint32_t, Use, std::uint32_t, Use>;
  struct Waited {
    Event event;
    Stamp stamp;
  };

  void judge(std::size_t count);
  void note(const Race& race);
  [[nodiscard]] std::optional<Detour> detour_of(const Race& race) const;

  std::size_t events_kept_;
  History kept_;
  Ordering ordering_;
  std::unordered_map<std::uint64_t, Shadow> shadows_;
  /// The last waits of each actor.
  std::unordered_map<Actor, std::deque<Waited>> waited_;
  std::map<Key, std::size_t> numbers_;
  std::vector<Finding> findings_;
};

/// All at once.
[[nodiscard]] std::vector<Finding> find_races(const History& history);

}  // namespace baton::check
