#include "check/actors.hpp"

namespace baton::check {

Actor Actors::add(const Origin& origin) {
  ranks_.push_back(origin.rank);
  are_programs_.push_back(origin.activity == 0);
  return static_cast<Actor>(ranks_.size() - 1);
}

Actors::Entered Actors::of(const Origin& origin) {
  Chip& chip = chips_[group_of(origin)];
  const auto known = chip.activities.find(origin.activity);
  if (known != chip.activities.end()) return {known->second};
  Entered entered{0, !chip.free.empty()};
  if (entered.again) {
    entered.actor = chip.free.back();
    chip.free.pop_back();
  } else {
    entered.actor = add(origin);
  }
  chip.activities.emplace(origin.activity, entered.actor);
  return entered;
}

Actors::Entered Actors::begin(const Origin& origin, std::uint64_t chip_id, std::uint64_t task,
                              std::span<const std::uint64_t> earlier) {
  const Group group = group_of(origin);
  groups_.try_emplace(chip_id, group);
  Chip& chip = chips_[group];
  for (const std::uint64_t before : earlier) {
    const auto ended = chip.of_tasks.find(before);
    if (ended == chip.of_tasks.end() || ended->second.empty()) continue;
    const Actor actor = ended->second.back();
    ended->second.pop_back();
    chip.activities.emplace(origin.activity, actor);
    chip.of_tasks[task].push_back(actor);
    return {actor};
  }
  const Entered entered = of(origin);
  chip.of_tasks[task].push_back(entered.actor);
  return entered;
}

void Actors::end_all(std::uint64_t chip_id, FunctionRef<void(Actor)> left) {
  const auto group = groups_.find(chip_id);
  if (group == groups_.end()) return;
  Chip& chip = chips_[group->second];
  std::vector<bool> is_free(ranks_.size(), false);
  for (const Actor actor : chip.free) is_free[actor] = true;
  for (const auto& [activity, actor] : chip.activities) {
    if (is_free[actor]) continue;
    is_free[actor] = true;
    chip.free.push_back(actor);
    left(actor);
  }
  chip.activities.clear();
  chip.of_tasks.clear();
}

}  // namespace baton::check
