// Small programs for the race detector, one run of them, and the truth about all of their runs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/history.hpp"
#include "check/race_finder.hpp"

namespace baton::check::test {

/// The events of one actor. Every event has a place of its own: its number among all events of the program.
class ActorProgram {
 public:
  ActorProgram(Actor actor, std::uint32_t& places) : actor_(actor), places_(&places) {}

  ActorProgram& read(std::uint64_t memory, std::uint64_t begin = 0, std::uint64_t bytes = 4);
  ActorProgram& write(std::uint64_t memory, std::uint64_t begin = 0, std::uint64_t bytes = 4);
  ActorProgram& atomic(std::uint64_t memory, std::uint64_t begin = 0, std::uint64_t bytes = 4);
  ActorProgram& notify(std::uint64_t signal, std::int64_t value = 1);
  ActorProgram& set(std::uint64_t signal, std::int64_t value);
  ActorProgram& wait(std::uint64_t signal, std::int64_t value, WaitCmp comparison = WaitCmp::ge);
  ActorProgram& hand(std::uint64_t token);
  ActorProgram& receive(std::uint64_t token);
  /// Hands over and receives the token, as all members of a barrier do.
  ActorProgram& barrier(std::uint64_t token) { return hand(token).receive(token); }

  [[nodiscard]] const std::vector<Event>& events() const noexcept { return events_; }

 private:
  ActorProgram& add(Event event);
  Actor actor_;
  std::uint32_t* places_;
  std::vector<Event> events_;
};

/// Signals are words of memories from this number on, so that tests may use small numbers for both.
inline constexpr std::uint64_t kSignals = 1000;

class Program {
 public:
  explicit Program(Actor actors);
  ActorProgram& operator[](Actor actor) { return actors_[actor]; }

  /// One run, chosen by the seed; nothing if it ends in a deadlock.
  [[nodiscard]] std::optional<History> run(std::uint64_t seed) const;

  /// The pairs of places that some run has side by side, both about to happen, and that are in conflict: all races that
  /// there are. Tries all runs.
  [[nodiscard]] std::set<std::pair<std::uint32_t, std::uint32_t>> races() const;

  [[nodiscard]] std::string text() const;

 private:
  struct State;
  [[nodiscard]] bool can_go_on(const State& state, Actor actor) const;
  void go_on(State& state, Actor actor) const;

  std::uint32_t places_ = 0;
  std::vector<ActorProgram> actors_;
};

/// What the detector finds, as pairs of places, the smaller one first.
[[nodiscard]] std::set<std::pair<std::uint32_t, std::uint32_t>> found_in(const History& history);

}  // namespace baton::check::test
