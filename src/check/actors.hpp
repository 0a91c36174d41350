// Who does what is recorded: numbers for the programs of ranks and for the activities of their chips.
//
// A chip has an activity for each execution of a kernel. Clocks have an entry for each actor: so a task goes on with
// the number of one that it waits for, and once a program has waited for all tasks of a chip, their numbers are free
// again.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "base/function_ref.hpp"
#include "check/history.hpp"

namespace baton::check {

class Actors {
 public:
  struct Entered {
    Actor actor;
    /// It is one that did something else before.
    bool again = false;
  };

  /// Who does it. One that was not there before begins, apart from all others.
  Entered of(std::uint32_t rank, Activity activity);
  /// The activity begins to run a task of the chip that waits for `earlier`.
  Entered begin(std::uint32_t rank, Activity activity, std::uint64_t chip_id, std::uint64_t task,
                std::span<const std::uint64_t> earlier);
  /// All activities of the chip are before whatever it does next. Calls left(actor) for each.
  void end_all(std::uint64_t chip_id, FunctionRef<void(Actor)> left);

  [[nodiscard]] std::uint32_t rank_of(Actor actor) const { return ranks_[actor]; }
  [[nodiscard]] bool is_program(Actor actor) const { return are_programs_[actor]; }

 private:
  /// Numbers of one chip: its rank, and which of the chips of its process it is.
  using Group = std::pair<std::uint32_t, std::uint64_t>;
  struct Chip {
    std::vector<Actor> free;
    std::map<Activity, Actor> activities;
    std::unordered_map<std::uint64_t, std::vector<Actor>> of_tasks;  // that nobody went on with
  };
  [[nodiscard]] static Group group_of(std::uint32_t rank, Activity activity) { return {rank, activity >> 40U}; }
  [[nodiscard]] Actor add(std::uint32_t rank, Activity activity);

  std::map<Group, Chip> chips_;
  std::unordered_map<std::uint64_t, Group> groups_;  // by the id of the chip
  std::vector<std::uint32_t> ranks_;
  std::vector<bool> are_programs_;
};

}  // namespace baton::check
