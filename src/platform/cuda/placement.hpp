// Which core runs which block of which task, decided before the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baton::cuda {

/// One block of a task.
struct Unit {
  std::uint32_t task;
  std::uint32_t block;

  friend bool operator==(const Unit&, const Unit&) = default;
};

struct Placement {
  /// What each core runs, in this order.
  std::vector<std::vector<Unit>> cores;
  /// Of each task: blocks of others that must have ended before it begins, without those that its core runs before it,
  /// and without those of whose end the others of them tell.
  std::vector<std::uint32_t> needed;
  /// Of each task: whose counter it waits at. Tasks that wait for the same one alone share that of their first.
  std::vector<std::uint32_t> counter;
  /// Of each task: at whose counters the end of each of its blocks is counted.
  std::vector<std::vector<std::uint32_t>> told;
};

/// `predecessors[i]`: of task i, all below i. `blocks[i]`: its blocks, which run on cores of their own if there are
/// enough. `priorities[i]`: of tasks whose predecessors have a place the one with the largest gets the next; without
/// any, tasks get theirs in their order. Every core runs its blocks in the order in which they got it, so no two can
/// wait for each other in a circle.
[[nodiscard]] Placement place(std::span<const std::vector<std::uint32_t>> predecessors,
                              std::span<const std::uint32_t> blocks, std::size_t core_count,
                              std::span<const std::int32_t> priorities = {});

}  // namespace baton::cuda
