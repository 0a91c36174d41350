// One thread that runs cores, as the scheduler sees it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/fiber.hpp"
#include "base/sleep_notice.hpp"
#include "chip/cores/core.hpp"
#include "chip/sched/inbox.hpp"
#include "chip/sched/profiler.hpp"
#include "chip/sched/ready_queue.hpp"

namespace baton::chip {

/// A core and what its fiber needs beside it. All cores of a cluster are on one thread.
struct Seat {
  explicit Seat(Core& of) : core(of), takes(of.position().type == CoreType::cube ? Cores::cube : Cores::vector) {}

  Core& core;
  Cores takes;
  KernelCall call;
  FiberRef fiber;
  /// What it runs, for reports. Its own thread writes it.
  std::atomic<const Task*> running{nullptr};
  /// A part of a cluster's task that the cluster's cube core hands to this vector core, and which block of it.
  Task* assigned = nullptr;
  std::uint32_t assigned_block = 0;
  std::shared_ptr<ClusterPipes> assigned_pipes;
  /// While tasks are profiled: of the task that it runs.
  RunTimes times;
  /// And in kernels so far, in ticks, and how many.
  std::uint64_t busy_ticks = 0;
  std::uint64_t kernels = 0;
};

/// What a thread that completes tasks needs to note their times.
struct ThreadNotes {
  ThreadProfile* profile = nullptr;     // null unless tasks are profiled
  const RunTimes* run_times = nullptr;  // of the task that is being completed, unless it has them
};

/// A few tasks that one thread keeps for itself, first in, first out.
class KeptTasks {
 public:
  static constexpr std::uint32_t kMost = 8;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool push(Task& task) noexcept {
    if (count_ == kMost) return false;
    tasks_[(first_ + count_++) % kMost] = &task;
    return true;
  }
  [[nodiscard]] Task* pop() noexcept {
    if (count_ == 0) return nullptr;
    Task* task = tasks_[first_];
    first_ = (first_ + 1) % kMost;
    --count_;
    return task;
  }

 private:
  std::array<Task*, kMost> tasks_{};
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

struct CoreThread {
  /// Tasks that became ready on this thread, and those that the submitter handed to it. Others take from here when they
  /// have nothing.
  std::array<ReadyQueue, kCoreKinds> ready;
  std::array<Inbox, kCoreKinds> inboxes;
  /// Up while the thread sleeps, or is about to.
  alignas(64) SleepNotice notice;
  /// Written by this thread alone; others add them up. A task leaves the window when it is complete or deferred.
  alignas(64) std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> left_window{0};
  /// How long a task took of late, its bookkeeping included.
  std::atomic<std::int64_t> task_ns{0};

  /// A thread takes at most one in this many that wait: others find enough.
  static constexpr std::uint64_t kShareOfInbox = 8;

  // The rest belongs to the thread.
  /// Tasks of this block that it completed and has not told the block of.
  TaskBlock* done_in = nullptr;
  std::uint32_t done_count = 0;
  /// The thread that it took a task from last, and may have more.
  CoreThread* lender = nullptr;
  ThreadNotes notes;
  std::int64_t sampled_at_ns = 0;
  std::uint64_t sampled_count = 0;
  /// Taken and not begun, or became ready on this thread, which is faster with them than another one that would have to
  /// fetch them.
  std::array<KeptTasks, 2> kept;  // by TaskKind
  /// Kernels that have begun and not returned, on all cores of the thread.
  int busy = 0;
  /// Cores with nothing to do: they rest. The one that worked last is the next to be woken.
  std::array<std::vector<Seat*>, kCoreKinds> idle;
  /// Cores that neither rest nor are inside a kernel: they take the next task themselves.
  std::array<int, kCoreKinds> looking{};

  [[nodiscard]] std::vector<Seat*>& idle_in(Cores cores) noexcept { return idle[static_cast<std::size_t>(cores)]; }
  [[nodiscard]] int& looking_in(Cores cores) noexcept { return looking[static_cast<std::size_t>(cores)]; }
  [[nodiscard]] ReadyQueue& queue(Cores cores) noexcept { return ready[static_cast<std::size_t>(cores)]; }
  [[nodiscard]] Inbox& inbox(Cores cores) noexcept { return inboxes[static_cast<std::size_t>(cores)]; }
  [[nodiscard]] bool has_queued(Cores cores) const noexcept { return !ready[static_cast<std::size_t>(cores)].empty(); }
  [[nodiscard]] bool has_task(Cores cores) const noexcept {
    return has_queued(cores) || !inboxes[static_cast<std::size_t>(cores)].empty();
  }
  /// Whether it has taken what it has not begun.
  [[nodiscard]] bool has_own(Cores cores) const noexcept {
    const auto index = static_cast<std::size_t>(cores);
    return index < kept.size() && !kept[index].empty();
  }
  [[nodiscard]] bool has_own() const noexcept { return has_own(Cores::vector) || has_own(Cores::cube); }
  /// Whether it may take tasks that it does not begin at once. Not while a kernel of this thread waits: it may wait for
  /// one of them, and need not leave a core to run it.
  [[nodiscard]] bool may_keep() const noexcept { return busy == 0 && tasks_are_short(); }
  [[nodiscard]] bool may_keep(Cores cores) const noexcept { return cores != Cores::cluster && may_keep(); }
  /// Tasks of this length are over before another thread has fetched one. Of the first ones nothing is known.
  [[nodiscard]] bool tasks_are_short() const noexcept {
    constexpr std::int64_t kShortNs = 1'000;
    const std::int64_t ns = task_ns.load(std::memory_order_relaxed);
    return ns != 0 && ns < kShortNs;
  }
  /// False if others should have it.
  [[nodiscard]] bool keep(Task& task, TaskKind kind) noexcept {
    if (!may_keep() || !kept[static_cast<std::size_t>(kind)].push(task)) return false;
    task.prefetch();
    return true;
  }
  [[nodiscard]] Task* pop_kept(Cores cores) noexcept {
    return cores == Cores::vector || cores == Cores::cube ? kept[static_cast<std::size_t>(cores)].pop() : nullptr;
  }
  /// For any thread.
  [[nodiscard]] Task* pop(Cores cores) {
    if (Task* task = queue(cores).pop()) return task;
    return inbox(cores).pop();
  }
  /// For this thread, which has none of its own left. While tasks are short and many wait, it takes several at a time:
  /// what the submitter wrote has the time to travel.
  [[nodiscard]] Task* pop_own(Cores cores) {
    if (!may_keep(cores)) return pop(cores);
    if (Task* task = queue(cores).pop()) return task;
    std::array<Task*, KeptTasks::kMost> room{};
    const std::span<Task*> some = inbox(cores).take(room, kShareOfInbox);
    if (some.empty()) return nullptr;
    for (const Task* task : some.subspan(1)) task->prefetch();
    return keep_all_but_first(some, cores);
  }
  /// The first of `some`, which were taken while none is kept.
  [[nodiscard]] Task* keep_all_but_first(std::span<Task* const> some, Cores cores) noexcept {
    for (Task* task : some.subspan(1)) static_cast<void>(kept[static_cast<std::size_t>(cores)].push(*task));
    return some.front();
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
