#include "check/ordering.hpp"

#include <algorithm>

namespace baton::check {

void Ordering::enter(Actor actor) {
  ActorState& state = state_of(actors_, actor);
  state.is_known = true;
  state.is_gone = false;
}

void Ordering::hand(const Event& event, const ActorState& state, Tokens& tokens) {
  Token& token = tokens[event.subject];
  token.clock.join(*state.seen);
  token.clock.raise(event.actor, state.time);
  token.number = mix(token.number, mix(state.number, mix(event.actor, state.time)));
}

void Ordering::receive(const Event& event, ActorState& state, const Tokens& tokens) {
  const auto token = tokens.find(event.subject);
  if (token == tokens.end() || state.seen->covers(token->second.clock)) return;
  auto seen = make_clock(*state.seen);
  seen->join(token->second.clock);
  state.seen = std::move(seen);
  state.number = mix(state.number, token->second.number);
}

void Ordering::wait(Step& step, const Event& event, ActorState& state) {
  const auto version = [&] { return step.is_final ? step.word->final_version() : step.word->version(); };
  if (step.is_calculated && step.seen == state.number && step.version == version()) {
    state.number = step.number;
    state.seen = step.result;
    return;
  }
  const Guarantee guaranteed =
      step.word->guaranteed({event.actor, step.time, *state.seen, event.comparison, event.value});
  step.seen = state.number;
  step.is_final = guaranteed.is_final;
  step.version = version();
  const bool knows_change = guaranteed.change == nullptr || guaranteed.change->stamp.is_in(*state.seen);
  if (!knows_change || !state.seen->covers(guaranteed.clock)) {
    auto seen = make_clock(*state.seen);
    seen->join(guaranteed.clock);
    if (!knows_change) guaranteed.change->stamp.join_to(*seen);
    state.seen = std::move(seen);
    state.number = ++last_number_;
  }
  if (step.is_calculated && *step.result == *state.seen) {
    // What it was: later events have used that already.
    state.number = step.number;
    state.seen = step.result;
    return;
  }
  // Clocks of very many actors would take too much room.
  constexpr std::size_t kMostParts = 8;
  step.is_calculated = state.seen->parts().size() <= kMostParts;
  if (!step.is_calculated) return;
  step.number = state.number;
  step.result = state.seen;
}

bool Ordering::take(Step& step, const Event& event, ActorState& state, Tokens& tokens) {
  state.time = step.time;
  switch (event.kind) {
    case Kind::access:
    case Kind::fresh: return false;
    case Kind::hand: hand(event, state, tokens); return false;
    case Kind::receive: receive(event, state, tokens); return false;
    case Kind::wait: wait(step, event, state); return false;
    case Kind::change:
      if (step.is_calculated && step.seen == state.number) return false;
      step.is_calculated = true;
      step.seen = state.number;
      return step.word->update(event.actor, step.time, state.seen);
  }
  return false;
}

Word& Ordering::word_of(const WordKey& key) {
  Word*& known = words_lately_.at(key.first + key.second / sizeof(std::uint32_t), key);
  if (known == nullptr) known = &words_[key];
  return *known;
}

bool Ordering::begin(const History& history) {
  for (auto& [key, word] : words_) word.forget_after([this](Actor actor) { return state_of(actors_, actor).time; });
  steps_.clear();
  steps_.reserve(history.size());
  Actors actors = actors_;
  Tokens tokens = tokens_;
  bool has_waits = false;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Event& event = history[i];
    ActorState& state = state_of(actors, event.actor);
    ++state.time;
    if (event.kind == Kind::access || event.kind == Kind::fresh) continue;
    Step& step = steps_.emplace_back();
    step.event = static_cast<std::uint32_t>(i);
    step.time = state.time;
    if (event.kind == Kind::change || event.kind == Kind::wait) step.word = &word_of({event.subject, event.begin});
    if (event.kind == Kind::change) {
      step.is_calculated = true;
      step.seen = state.number;
      step.word->add({{event.actor, step.time, state.seen}, event.op, event.value, event.place});
      continue;
    }
    has_waits = has_waits || event.kind == Kind::wait;
    static_cast<void>(take(step, event, state, tokens));
  }
  return has_waits;
}

std::size_t Ordering::settle(const History& history) {
  std::size_t passes = 1;
  for (bool is_less = begin(history); is_less; ++passes) {
    is_less = false;
    Actors actors = actors_;
    Tokens tokens = tokens_;
    for (Step& step : steps_) {
      const Event& event = history[step.event];
      is_less = take(step, event, state_of(actors, event.actor), tokens) || is_less;
    }
  }
  return passes;
}

void Ordering::commit(const History& history, std::size_t count, FunctionRef<void(const Event&, const Stamp&)> visit) {
  auto step = steps_.begin();
  for (std::size_t i = 0; i < count; ++i) {
    const Event& event = history[i];
    ActorState& state = state_of(actors_, event.actor);
    state.is_known = true;
    ++state.time;
    if (step != steps_.end() && step->event == i) static_cast<void>(take(*step++, event, state, tokens_));
    visit(event, {event.actor, state.time, state.seen});
  }
  steps_.clear();
}

const Word* Ordering::word(const WordKey& key) const {
  const auto found = words_.find(key);
  return found == words_.end() ? nullptr : &found->second;
}

Clock Ordering::seen_by_all() const {
  Clock common;
  bool is_first = true;
  for (Actor actor = 0; actor < actors_.size(); ++actor) {
    const ActorState& state = actors_[actor];
    if (!state.is_known || state.is_gone) continue;
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
  std::erase_if(tokens_, [&](const auto& entry) { return common.covers(entry.second.clock); });
}

}  // namespace baton::check
