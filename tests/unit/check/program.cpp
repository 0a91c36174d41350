#include "program.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <fmt/format.h>

namespace baton::check::test {

ActorProgram& ActorProgram::add(Event event) {
  event.actor = actor_;
  event.place = (*places_)++;
  events_.push_back(event);
  return *this;
}

ActorProgram& ActorProgram::read(std::uint64_t memory, std::uint64_t begin, std::uint64_t bytes) {
  return add({.kind = Kind::access, .use = Use::read, .subject = memory, .begin = begin, .end = begin + bytes});
}
ActorProgram& ActorProgram::write(std::uint64_t memory, std::uint64_t begin, std::uint64_t bytes) {
  return add({.kind = Kind::access, .use = Use::write, .subject = memory, .begin = begin, .end = begin + bytes});
}
ActorProgram& ActorProgram::atomic(std::uint64_t memory, std::uint64_t begin, std::uint64_t bytes) {
  return add({.kind = Kind::access, .use = Use::atomic, .subject = memory, .begin = begin, .end = begin + bytes});
}
ActorProgram& ActorProgram::notify(std::uint64_t signal, std::int64_t value) {
  return add({.kind = Kind::change, .op = NotifyOp::add, .subject = kSignals + signal, .end = 4, .value = value});
}
ActorProgram& ActorProgram::set(std::uint64_t signal, std::int64_t value) {
  return add({.kind = Kind::change, .op = NotifyOp::set, .subject = kSignals + signal, .end = 4, .value = value});
}
ActorProgram& ActorProgram::wait(std::uint64_t signal, std::int64_t value, WaitCmp comparison) {
  return add({.kind = Kind::wait, .comparison = comparison, .subject = kSignals + signal, .end = 4, .value = value});
}
ActorProgram& ActorProgram::hand(std::uint64_t token) { return add({.kind = Kind::hand, .subject = token}); }
ActorProgram& ActorProgram::receive(std::uint64_t token) { return add({.kind = Kind::receive, .subject = token}); }

struct Program::State {
  std::vector<std::size_t> next;
  std::map<std::uint64_t, std::int64_t> signals;
  auto operator<=>(const State&) const = default;
};

Program::Program(Actor actors) {
  for (Actor actor = 0; actor < actors; ++actor) actors_.emplace_back(actor, places_);
}

bool Program::can_go_on(const State& state, Actor actor) const {
  if (state.next[actor] >= actors_[actor].events().size()) return false;
  const Event& event = actors_[actor].events()[state.next[actor]];
  if (event.kind == Kind::wait) {
    const auto signal = state.signals.find(event.subject);
    return holds(signal == state.signals.end() ? 0 : signal->second, event.comparison, event.value);
  }
  if (event.kind != Kind::receive) return true;
  // All who hand this token over have done so.
  for (Actor other = 0; other < actors_.size(); ++other) {
    for (std::size_t i = state.next[other]; i < actors_[other].events().size(); ++i) {
      const Event& left = actors_[other].events()[i];
      if (left.kind == Kind::hand && left.subject == event.subject) return false;
    }
  }
  return true;
}

void Program::go_on(State& state, Actor actor) const {
  const Event& event = actors_[actor].events()[state.next[actor]++];
  if (event.kind != Kind::change) return;
  std::int64_t& signal = state.signals[event.subject];
  signal = event.op == NotifyOp::add ? signal + event.value : event.value;
}

std::optional<History> Program::run(std::uint64_t seed) const {
  std::mt19937_64 random(seed);
  State state{std::vector<std::size_t>(actors_.size(), 0), {}};
  History history;
  while (true) {
    std::vector<Actor> able;
    bool is_over = true;
    for (Actor actor = 0; actor < actors_.size(); ++actor) {
      if (state.next[actor] < actors_[actor].events().size()) is_over = false;
      if (can_go_on(state, actor)) able.push_back(actor);
    }
    if (is_over) return history;
    if (able.empty()) return std::nullopt;
    const Actor actor = able[random() % able.size()];
    history.push_back(actors_[actor].events()[state.next[actor]]);
    go_on(state, actor);
  }
}

std::set<std::pair<std::uint32_t, std::uint32_t>> Program::races() const {
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  std::set<State> seen;
  std::vector<State> open{State{std::vector<std::size_t>(actors_.size(), 0), {}}};
  const auto conflict = [](const Event& a, const Event& b) {
    return a.kind == Kind::access && b.kind == Kind::access && a.subject == b.subject && a.begin < b.end &&
           b.begin < a.end && (a.use == Use::write || b.use == Use::write || a.use != b.use);
  };
  while (!open.empty()) {
    const State state = open.back();
    open.pop_back();
    if (!seen.insert(state).second) continue;
    for (Actor actor = 0; actor < actors_.size(); ++actor) {
      if (!can_go_on(state, actor)) continue;
      const Event& mine = actors_[actor].events()[state.next[actor]];
      for (Actor other = 0; other < actor; ++other) {
        if (!can_go_on(state, other)) continue;
        const Event& theirs = actors_[other].events()[state.next[other]];
        if (conflict(mine, theirs)) found.insert(std::minmax(mine.place, theirs.place));
      }
      State next = state;
      go_on(next, actor);
      open.push_back(std::move(next));
    }
  }
  return found;
}

std::string Program::text() const {
  std::string text;
  for (const ActorProgram& actor : actors_) {
    for (const Event& event : actor.events()) {
      constexpr const char* kUses[] = {"read", "write", "atomic"};
      switch (event.kind) {
        case Kind::access:
          text +=
              fmt::format("{} {}[{},{}) ", kUses[static_cast<int>(event.use)], event.subject, event.begin, event.end);
          break;
        case Kind::change:
          text += fmt::format("{} s{} {} ", event.op == NotifyOp::add ? "add" : "set", event.subject - kSignals,
                              event.value);
          break;
        case Kind::wait:
          text += fmt::format("wait s{} {} {} ", event.subject - kSignals, symbol_of(event.comparison), event.value);
          break;
        case Kind::hand: text += fmt::format("hand {} ", event.subject); break;
        case Kind::receive: text += fmt::format("receive {} ", event.subject); break;
        case Kind::fresh: text += fmt::format("fresh {}[{},{}) ", event.subject, event.begin, event.end); break;
      }
      text += fmt::format("@{}; ", event.place);
    }
    text += '\n';
  }
  return text;
}

std::set<std::pair<std::uint32_t, std::uint32_t>> found_in(const History& history) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const Finding& finding : find_races(history)) {
    found.insert(std::minmax(finding.race.first.place, finding.race.second.place));
  }
  return found;
}

}  // namespace baton::check::test
