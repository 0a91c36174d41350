// What is recorded was done by these: numbers for the programs of ranks and for the activities of their chips.
//
// A rank is one of its process: nodes that run beside each other have chips of the same numbers, which have nothing to
// do with each other.
//
// A chip has an activity for each execution of a kernel. Clocks have an entry for each actor: so a task goes on with
// the number of one that it waits for, and once a program has waited for all tasks of a chip, their numbers are free
// again.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/event.hpp"
#include "base/function_ref.hpp"
#include "check/history.hpp"

namespace baton::check {

/// Who recorded an event.
struct Origin {
  std::uint32_t process = 0;  // as the trace counts them
  std::uint32_t rank = 0;
  Activity activity = 0;
};

class Actors {
 public:
  struct Entered {
    Actor actor;
    /// It is one that did something else before.
    bool again = false;
  };

  /// Who does it. One that was not there before begins, apart from all others.
  Entered of(const Origin& origin);
  /// The activity begins to run a task of the chip that waits for `earlier`.
  Entered begin(const Origin& origin, std::uint64_t chip_id, std::uint64_t task,
                std::span<const std::uint64_t> earlier);
  /// All activities of the chip are before whatever it does next. Calls left(actor) for each.
  void end_all(std::uint64_t chip_id, FunctionRef<void(Actor)> left);

  [[nodiscard]] std::uint32_t rank_of(Actor actor) const { return ranks_[actor]; }
  [[nodiscard]] bool is_program(Actor actor) const { return are_programs_[actor]; }

 private:
  /// Numbers of one chip: its process and rank, and which of the chips of the process it is.
  using Group = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
  struct Chip {
    std::vector<Actor> free;
    std::map<Activity, Actor> activities;
    std::unordered_map<std::uint64_t, std::vector<Actor>> of_tasks;  // that nobody went on with
  };
  [[nodiscard]] static Group group_of(const Origin& origin) {
    return {origin.process, origin.rank, origin.activity >> 40U};
  }
  [[nodiscard]] Actor add(const Origin& origin);

  std::map<Group, Chip> chips_;
  std::unordered_map<std::uint64_t, Group> groups_;  // by the id of the chip
  std::vector<std::uint32_t> ranks_;
  std::vector<bool> are_programs_;
};

}  // namespace baton::check
