// One thread that runs cores, as the scheduler sees it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/fiber.hpp"
#include "chip/sched/core.hpp"
#include "chip/sched/inbox.hpp"
#include "chip/sched/ready_queue.hpp"

namespace baton::chip {

/// A core and what its fiber needs beside it. All cores of a cluster are on one thread.
struct Seat {
  explicit Seat(Core& of) : core(of), lane(of.place().type == CoreType::cube ? Lane::cube : Lane::vector) {}

  Core& core;
  Lane lane;
  KernelCall call;
  FiberRef fiber;
  /// A part of a cluster's task that the cluster's cube core hands to this vector core, and which block of it.
  Task* assigned = nullptr;
  std::uint32_t assigned_block = 0;
};

struct Worker {
  /// Tasks that became ready on this thread, and those that the submitter handed to it. Others take from here when they
  /// have nothing.
  std::array<ReadyQueue, kLanes> ready;
  std::array<Inbox, kLanes> inboxes;
  /// Set before the thread sleeps. Whoever clears it rings.
  alignas(64) std::atomic<bool> asleep{false};
  /// Written by this thread alone; others add them up. A task leaves the window when it is complete or deferred.
  alignas(64) std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> left_window{0};
  /// How long a task took of late, its bookkeeping included.
  std::atomic<std::int64_t> task_ns{0};

  // The rest belongs to the thread.
  std::int64_t sampled_at_ns = 0;
  std::uint64_t sampled_count = 0;
  /// Kernels that have begun and not returned, on all cores of the thread.
  int busy = 0;
  /// Cores with nothing to do: they rest. The one that worked last is the next to be woken.
  std::array<std::vector<Seat*>, kLanes> idle;
  /// Cores that neither rest nor are inside a kernel: they take the next task themselves.
  std::array<int, kLanes> looking{};

  [[nodiscard]] std::vector<Seat*>& idle_in(Lane lane) noexcept { return idle[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] int& looking_in(Lane lane) noexcept { return looking[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] ReadyQueue& queue(Lane lane) noexcept { return ready[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] Inbox& inbox(Lane lane) noexcept { return inboxes[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] bool has_task(Lane lane) const noexcept {
    const auto index = static_cast<std::size_t>(lane);
    return !ready[index].empty() || !inboxes[index].empty();
  }
  [[nodiscard]] Task* pop(Lane lane) {
    if (Task* task = queue(lane).pop()) return task;
    return inbox(lane).pop();
  }
  /// About how many tasks wait here.
  [[nodiscard]] std::uint64_t backlog() const noexcept {
    std::uint64_t count = 0;
    for (const ReadyQueue& queue : ready) count += queue.size();
    for (const Inbox& inbox : inboxes) count += inbox.size();
    return count;
  }
};

}  // namespace baton::chip
