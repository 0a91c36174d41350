// The order of a history: what had to happen before what, whatever the timing.
//
// What a wait guarantees depends on which changes had to come after it, which later waits decide. So the history is
// gone through until a pass finds nothing new: what one pass has found only adds to the order, never takes from it.
// Most of it is found by the first passes. So clocks have numbers, and what was calculated from clocks of the same
// numbers is not calculated again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "check/clock.hpp"
#include "check/history.hpp"
#include "check/word.hpp"

namespace baton::check {

/// (memory, offset)
using WordKey = std::pair<std::uint64_t, std::uint64_t>;

class Ordering {
 public:
  /// An actor that begins without anything behind it. Others begin by taking a token.
  void enter(Actor actor);
  /// The actor has no more events than those it has had: nothing is kept for it.
  void leave(Actor actor) { state_of(actors_, actor).is_gone = true; }

  /// Goes through all events until nothing new is found. Earlier ones have been committed.
  void settle(const History& history);

  /// Shows the first `count` events of what was settled, each with all that happened before it and itself, and goes on
  /// from there: the next settle() begins with the event behind them.
  void commit(const History& history, std::size_t count, FunctionRef<void(const Event&, const Stamp&)> visit);

  /// The changes of a word, as far as they are known.
  [[nodiscard]] const Word* word(const WordKey& key) const;

  /// What all actors that go on have behind them.
  [[nodiscard]] Clock seen_by_all() const;
  void forget_what_is_over();

 private:
  /// Clocks of the same number are the same.
  struct ActorState {
    Time time = 0;
    bool is_known = false;
    bool is_gone = false;
    std::uint64_t number = 0;
    std::shared_ptr<const Clock> seen = std::make_shared<const Clock>();
  };
  struct Token {
    std::uint64_t number = 0;
    Clock clock;
  };
  using Actors = std::vector<ActorState>;
  using Tokens = std::unordered_map<std::uint64_t, Token>;

  /// An event of the history that orders, or is ordered.
  struct Step {
    std::uint32_t event = 0;  // its place in the history
    Time time = 0;
    bool is_calculated = false;
    Word* word = nullptr;  // of changes and waits
    /// What the last calculation began with: the actor's clock, and how often the word's changes had learned something.
    /// Of these it depends on the first to the last.
    std::uint64_t seen = 0;
    std::uint64_t lessons = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    /// What a wait gives its actor.
    std::uint64_t number = 0;
    std::shared_ptr<const Clock> result;
  };

  static ActorState& state_of(Actors& actors, Actor actor);
  /// All changes, with what a program's own order and tokens say of them.
  void begin(const History& history);
  void add_change(const Event& event, Step& step, const std::shared_ptr<const Clock>& seen);
  /// Moves the state of its actor behind the event. True if a change has seen more than was known.
  bool take(Step& step, const Event& event, ActorState& state, Tokens& tokens);
  void wait(Step& step, const Event& event, ActorState& state);
  static void hand(const Event& event, const ActorState& state, Tokens& tokens);
  static void receive(const Event& event, ActorState& state, const Tokens& tokens);

  Actors actors_;
  Tokens tokens_;
  std::map<WordKey, Word> words_;
  /// Events up to which changes have been added to words, by actor.
  std::vector<Time> added_;
  std::vector<Step> steps_;
  std::uint64_t last_number_ = 0;
};

}  // namespace baton::check
