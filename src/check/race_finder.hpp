// Finds races in a history that comes piece by piece.
//
// Memory is bounded by the number of events that are kept: when they are full, the older half is judged and forgotten.
// A change of a signal counts for a wait that came before it as long as both are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "check/history.hpp"
#include "check/lately.hpp"
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

  /// The last waits of an actor.
  class Waits {
   public:
    void add(const Event& event, const Stamp& stamp) {
      if (last_.size() < kKept) {
        last_.push_back({event, stamp});
      } else {
        last_[next_] = {event, stamp};
      }
      next_ = (next_ + 1) % kKept;
    }
    [[nodiscard]] std::size_t count() const noexcept { return last_.size(); }
    /// 0 is the last one.
    [[nodiscard]] const Waited& before(std::size_t i) const noexcept { return last_[(next_ + kKept - 1 - i) % kKept]; }

   private:
    static constexpr std::size_t kKept = 16;
    std::vector<Waited> last_;
    std::size_t next_ = 0;
  };

  [[nodiscard]] Shadow& shadow_of(std::uint64_t memory);
  void judge(std::size_t count);
  void note(const Race& race);
  [[nodiscard]] std::optional<Detour> detour_of(const Race& race) const;

  std::size_t events_kept_;
  History kept_;
  Ordering ordering_;
  std::unordered_map<std::uint64_t, Shadow> shadows_;
  Lately<std::uint64_t, Shadow> shadows_lately_;
  std::unordered_map<Actor, Waits> waited_;
  std::map<Key, std::size_t> numbers_;
  std::vector<Finding> findings_;
};

/// All at once.
[[nodiscard]] std::vector<Finding> find_races(const History& history);

}  // namespace baton::check
