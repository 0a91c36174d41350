#include "check/reachability.hpp"

#include <algorithm>

namespace baton::check {

Reachability::Reachability(const History& history, const std::map<WordKey, std::int64_t>& first_values)
    : history_(history), hands_before_(history.size()) {
  for (const auto& [key, value] : first_values) start_.words[key].sum = value;
  std::unordered_map<Actor, std::size_t> numbers;
  std::unordered_map<std::uint64_t, std::size_t> handed;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Event& event = history[i];
    const auto [at, is_new] = numbers.try_emplace(event.actor, actors_.size());
    if (is_new) actors_.emplace_back();
    actors_[at->second].push_back(i);
    if (event.kind == Kind::hand) ++handed[event.subject];
    if (event.kind == Kind::receive) hands_before_[i] = handed[event.subject];
    if (event.kind == Kind::change) {
      WordState& word = start_.words[{event.subject, event.begin}];
      (event.op == NotifyOp::set ? word.has_sets : word.has_additions) = true;
    }
  }
}

bool Reachability::is_enabled(std::size_t index, const Run& run) const {
  const Event& event = history_[index];
  if (event.kind == Kind::receive) {
    const auto handed = run.handed.find(event.subject);
    return (handed == run.handed.end() ? 0 : handed->second) >= hands_before_[index];
  }
  if (event.kind != Kind::wait) return true;
  const auto found = run.words.find({event.subject, event.begin});
  if (found == run.words.end()) return true;  // changed by something that is not on record
  const WordState& word = found->second;
  const auto satisfies = [&](std::int64_t value) { return holds(value, event.comparison, event.value); };
  if (word.has_sets) {
    return word.has_additions || satisfies(word.sum) || std::ranges::any_of(word.sets, satisfies);
  }
  switch (event.comparison) {
    case WaitCmp::ge:
    case WaitCmp::gt: return satisfies(word.sum);
    case WaitCmp::eq: return word.sum >= event.value;  // it had that value on the way
    default: return true;
  }
}

bool Reachability::reaches_without(std::size_t target, std::size_t excluded) const {
  Run run = start_;
  std::vector<std::size_t> next(actors_.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t actor = 0; actor < actors_.size(); ++actor) {
      while (next[actor] < actors_[actor].size()) {
        const std::size_t index = actors_[actor][next[actor]];
        if (index == excluded || !is_enabled(index, run)) break;
        if (index == target) return true;
        const Event& event = history_[index];
        if (event.kind == Kind::hand) ++run.handed[event.subject];
        if (event.kind == Kind::change) {
          WordState& word = run.words[{event.subject, event.begin}];
          if (event.op == NotifyOp::add) word.sum += event.value;
          if (event.op == NotifyOp::set) word.sets.push_back(event.value);
        }
        ++next[actor];
        moved = true;
      }
    }
  }
  return false;
}

}  // namespace baton::check
