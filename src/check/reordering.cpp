#include "check/reordering.hpp"

#include <utility>

namespace baton::check {

bool Reordering::may_come(const Held& held) const {
  const Event& event = held.event;
  if (event.kind == Kind::receive) {
    const auto handed = handed_.find(event.subject);
    return (handed == handed_.end() ? 0 : handed->second) >= held.needs;
  }
  if (event.kind != Kind::wait) return true;
  const auto value = values_.find({event.subject, event.begin});
  return holds(value == values_.end() ? 0 : value->second, event.comparison, event.value);
}

void Reordering::take(const Event& event, Give give) {
  if (event.kind == Kind::hand) ++handed_[event.subject];
  if (event.kind == Kind::change) {
    std::int64_t& value = values_[{event.subject, event.begin}];
    value = event.op == NotifyOp::add ? value + event.value : event.value;
  }
  give(event);
}

void Reordering::release(Give give) {
  for (bool moved = true; moved && !lines_.empty();) {
    moved = false;
    for (auto line = lines_.begin(); line != lines_.end();) {
      while (!line->second.empty() && may_come(line->second.front())) {
        take(line->second.front().event, give);
        line->second.pop_front();
        --held_;
        moved = true;
      }
      line = line->second.empty() ? lines_.erase(line) : std::next(line);
    }
  }
}

void Reordering::release_one(Give give) {
  const auto line = lines_.begin();
  take(line->second.front().event, give);
  line->second.pop_front();
  --held_;
  ++given_up_;
  if (line->second.empty()) lines_.erase(line);
  release(give);
}

void Reordering::add(const Event& event, std::uint64_t needs, Give give) {
  const Held held{event, needs};
  const auto line = lines_.find(event.actor);
  if (line == lines_.end() && may_come(held)) {
    take(event, give);
    if (event.kind == Kind::change || event.kind == Kind::hand) release(give);
    return;
  }
  lines_[event.actor].push_back(held);
  ++held_;
  if (held_ > kMostHeld) release_one(give);
}

void Reordering::finish(Give give) {
  while (!lines_.empty()) release_one(give);
}

}  // namespace baton::check
