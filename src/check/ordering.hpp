// The order of a history: what had to happen before what, whatever the timing.
//
// What a wait guarantees depends on which changes had to come after it, which later waits decide. So the history is
// gone through several times. The first pass takes it that all changes that came after a wait in this run had to. Each
// further pass drops what does not follow from what the pass before has left, until nothing is dropped: mostly the
// second one finds that all is well.
//
// What is left holds in every run of these events, though it may be that two waits are only justified by each other.
// Take the first moment at which a run breaks it: a wait returns without an event that it guarantees. All that happened
// before has kept to the order, so none of it has that event, or this wait, behind it. Changes of that kind do not let
// the wait return: else it would not guarantee the event. What does not hold in every run is dropped, as long as words
// are only added to and waits are for at least a value; tests compare that with all runs of random programs.
//
// Clocks have numbers, and what was calculated from clocks of the same numbers is not calculated again.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked_event.hpp"
#include "base/function_ref.hpp"
#include "check/clock.hpp"
#include "check/history.hpp"
#include "check/lately.hpp"
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

  /// Finds the order of all events. Earlier ones have been committed. Returns how often it went through them.
  std::size_t settle(const History& history);

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
    std::shared_ptr<const Clock> seen = make_clock();
  };
  struct Token {
    std::uint64_t number = 0;
    Clock clock;
  };
  struct HashWord {
    std::size_t operator()(const WordKey& key) const noexcept { return mix(key.first, key.second); }
  };
  using Actors = std::vector<ActorState>;
  using Tokens = std::unordered_map<std::uint64_t, Token>;

  /// An event of the history that orders, or is ordered.
  struct Step {
    std::uint32_t event = 0;  // its place in the history
    Time time = 0;
    bool is_calculated = false;
    bool is_final = false;
    Word* word = nullptr;  // of changes and waits
    /// What the last calculation began with: the clock of the actor, and what was known of the word.
    std::uint64_t seen = 0;
    std::uint64_t version = 0;
    /// What a wait gives its actor.
    std::uint64_t number = 0;
    std::shared_ptr<const Clock> result;
  };

  static ActorState& state_of(Actors& actors, Actor actor) {
    if (actor >= actors.size()) [[unlikely]]
      actors.resize(std::size_t{actor} + 1);
    return actors[actor];
  }
  /// The first pass, in which each wait knows only the changes that came before it in this run. True if it has waits.
  [[nodiscard]] bool begin(const History& history);
  /// Moves the state of its actor behind the event. True if a change has seen less than was assumed.
  bool take(Step& step, const Event& event, ActorState& state, Tokens& tokens);
  void wait(Step& step, const Event& event, ActorState& state);
  static void hand(const Event& event, const ActorState& state, Tokens& tokens);
  static void receive(const Event& event, ActorState& state, const Tokens& tokens);

  Actors actors_;
  Tokens tokens_;
  [[nodiscard]] Word& word_of(const WordKey& key);

  std::unordered_map<WordKey, Word, HashWord> words_;
  Lately<WordKey, Word> words_lately_;
  std::vector<Step> steps_;
  std::uint64_t last_number_ = 0;
};

}  // namespace baton::check
