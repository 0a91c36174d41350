#include "check/ordering.hpp"

namespace baton::check {

void Ordering::acquire(ActorState& state, const Clock& clock) {
  if (state.seen->covers(clock)) return;
  auto seen = std::make_shared<Clock>(*state.seen);
  seen->join(clock);
  state.seen = std::move(seen);
}

bool Ordering::step(const Event& event, Actors& actors, Tokens& tokens, Pass pass) {
  ActorState& state = actors[event.actor];
  ++state.time;
  switch (event.kind) {
    case Kind::access:
    case Kind::fresh: return false;
    case Kind::hand: {
      Clock& token = tokens[event.subject];
      token.join(*state.seen);
      token.raise(event.actor, state.time);
      return false;
    }
    case Kind::receive: {
      if (const auto token = tokens.find(event.subject); token != tokens.end()) acquire(state, token->second);
      return false;
    }
    case Kind::wait: {
      if (const auto word = words_.find({event.subject, event.begin}); word != words_.end()) {
        acquire(state, word->second.guaranteed({event.actor, state.time, *state.seen, event.comparison, event.value}));
      }
      return false;
    }
    case Kind::change: {
      Word& word = words_[{event.subject, event.begin}];
      Time& added = added_[event.actor];
      if (pass == Pass::first) {
        // What an earlier settle() found took no account of changes that have come since.
        if (state.time <= added) return word.update(event.actor, state.time, state.seen);
        added = state.time;
        word.add({{event.actor, state.time, state.seen}, event.op, event.value, event.place});
        return false;
      }
      return word.update(event.actor, state.time, state.seen);
    }
  }
  return false;
}

void Ordering::enter(Actor actor) {
  actors_.try_emplace(actor);
  gone_.erase(actor);
}

void Ordering::settle(const History& history) {
  {
    // All changes, with what a program's own order and tokens say of them.
    Actors actors = actors_;
    Tokens tokens = tokens_;
    for (const Event& event : history) {
      if (event.kind != Kind::wait)
        step(event, actors, tokens, Pass::first);
      else
        ++actors[event.actor].time;
    }
  }
  for (bool is_new = true; is_new;) {
    is_new = false;
    Actors actors = actors_;
    Tokens tokens = tokens_;
    for (const Event& event : history) is_new = step(event, actors, tokens, Pass::next) || is_new;
  }
}

void Ordering::commit(const History& history, std::size_t count, FunctionRef<void(const Event&, const Stamp&)> visit) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<void>(step(history[i], actors_, tokens_, Pass::next));
    const ActorState& state = actors_[history[i].actor];
    visit(history[i], {history[i].actor, state.time, state.seen});
  }
}

const Word* Ordering::word(const WordKey& key) const {
  const auto found = words_.find(key);
  return found == words_.end() ? nullptr : &found->second;
}

Clock Ordering::seen_by_all() const {
  Clock common;
  bool is_first = true;
  for (const auto& [actor, state] : actors_) {
    if (gone_.contains(actor)) continue;
    Clock own = *state.seen;
    own.raise(actor, state.time);
    if (std::exchange(is_first, false)) {
      common = own;
    } else {
      common.meet(own);
    }
  }
  return common;
}

void Ordering::forget_what_is_over() {
  const Clock common = seen_by_all();
  for (auto& [key, word] : words_) word.fold(common);
  std::erase_if(tokens_, [&](const auto& entry) { return common.covers(entry.second); });
}

}  // namespace baton::check
