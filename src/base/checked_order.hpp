// Tells `baton check` what orders the activities of ranks: tokens that are handed over, and tasks with edges.
#pragma once

#include <cstdint>

#include "base/checked_event.hpp"
#include "base/recorder.hpp"

namespace baton {

/// Whether anybody wants to know.
[[nodiscard]] inline bool is_checked() noexcept { return events::wants(EventKind::touch); }

/// Who does it: the program of a rank, or one of its activities.
struct CheckedActor {
  std::uint32_t rank = kNoRank;
  Activity activity = 0;
};

/// Before its taker can know.
void note_hand(const CheckedActor& by, std::uint64_t token) noexcept;
/// After all who hand it over.
void note_take(const CheckedActor& by, std::uint64_t token) noexcept;

/// Whose tasks: the scheduler of a chip, or a node. The number is the same in all processes, and nobody else's.
struct CheckedTasks {
  std::uint64_t id = 0;

  /// Of a new owner.
  [[nodiscard]] static CheckedTasks of_this_process() noexcept;

  /// Before the task can begin.
  void submitted(const CheckedActor& by, std::uint64_t task) const noexcept {
    note_hand(by, task_token(id, task, TaskMoment::submitted));
  }
  /// Before it begins.
  void waits_for(std::uint32_t rank, std::uint64_t task, std::uint64_t earlier) const noexcept;
  void begun(const CheckedActor& by, std::uint64_t task) const noexcept;
  /// A part of the task has ended, before the task is complete.
  void ended(const CheckedActor& by, std::uint64_t task) const noexcept;
  /// After a wait for the task, or for all of them.
  void awaited(const CheckedActor& by, std::uint64_t task) const noexcept {
    note_take(by, task_token(id, task, TaskMoment::ended));
  }
  void awaited_all(const CheckedActor& by) const noexcept { note_take(by, tasks_token(id)); }
};

}  // namespace baton
