// The order of a history: what had to happen before what, whatever the timing.
//
// What a wait guarantees depends on which changes had to come after it, which later waits decide. So the history is
// gone through until a pass finds nothing new: what one pass has found only adds to the order, never takes from it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
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
  void leave(Actor actor) { gone_.insert(actor); }

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
  struct ActorState {
    Time time = 0;
    std::shared_ptr<const Clock> seen = std::make_shared<const Clock>();
  };
  using Actors = std::unordered_map<Actor, ActorState>;
  using Tokens = std::unordered_map<std::uint64_t, Clock>;
  enum class Pass : std::uint8_t { first, next };

  /// Moves the state of its actor behind the event. True if a change has seen more than was known.
  bool step(const Event& event, Actors& actors, Tokens& tokens, Pass pass);
  static void acquire(ActorState& state, const Clock& clock);

  Actors actors_;
  std::set<Actor> gone_;
  Tokens tokens_;
  std::map<WordKey, Word> words_;
  /// Events up to which changes have been added to words, by actor.
  std::unordered_map<Actor, Time> added_;
};

}  // namespace baton::check
