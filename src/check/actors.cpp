#include "check/actors.hpp"

namespace baton::check {

Actor Actors::add(std::uint32_t rank, Activity activity) {
  ranks_.push_back(rank);
  are_programs_.push_back(activity == 0);
  return static_cast<Actor>(ranks_.size() - 1);
}

Actors::Entered Actors::of(std::uint32_t rank, Activity activity) {
  Chip& chip = chips_[group_of(rank, activity)];
  const auto known = chip.activities.find(activity);
  if (known != chip.activities.end()) return {known->second};
  Entered entered{0, !chip.free.empty()};
  if (entered.again) {
    entered.actor = chip.free.back();
    chip.free.pop_back();
  } else {
    entered.actor = add(rank, activity);
  }
  chip.activities.emplace(activity, entered.actor);
  return entered;
}

Actors::Entered Actors::begin(std::uint32_t rank, Activity activity, std::uint64_t chip_id, std::uint64_t task,
                              std::span<const std::uint64_t> earlier) {
  const Group group = group_of(rank, activity);
  groups_.try_emplace(chip_id, group);
  Chip& chip = chips_[group];
  for (const std::uint64_t before : earlier) {
    const auto ended = chip.of_tasks.find(before);
    if (ended == chip.of_tasks.end() || ended->second.empty()) continue;
    const Actor actor = ended->second.back();
    ended->second.pop_back();
    chip.activities.emplace(activity, actor);
    chip.of_tasks[task].push_back(actor);
    return {actor};
  }
  const Entered entered = of(rank, activity);
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
