// A task in flight: what to run, what it waits for, and who waits for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <baton/kernel_abi.hpp>
#include <baton/place.hpp>
#include <baton/signal.hpp>

#include "chip/graph/task_id.hpp"

struct ChipTensor;

namespace baton::chip {

using graph::TaskId;

class CapturedTasks;
struct Task;
struct TaskBlock;
struct TaskFailure;

/// The same for tasks of captured graphs, which have numbers from 1 on, and of no graph: 0.
[[nodiscard]] constexpr std::uint64_t event_number(TaskId id, std::uint64_t graph) noexcept {
  return id | graph << 40U;
}

/// One less to wait for. Whether it was the last one, which finds 1 and leaves it: nobody else counts any more, the
/// next use of the counter sets it first, and most counters only ever get to 1, where this saves a locked operation.
[[nodiscard]] inline bool count_down(std::atomic<std::uint32_t>& counter) noexcept {
  // Pairs with itself: the last one sees what all others did before they counted.
  return counter.load(std::memory_order_acquire) == 1 || counter.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// "`successor` waits for me". It lies in the memory of the successor, which outlives the wait.
struct Edge {
  Task* successor = nullptr;
  Edge* next = nullptr;
};

/// Which cores a task runs on.
enum class Cores : std::uint8_t {
  vector,
  cube,
  cluster,  // a cube core and its vector cores
  none,     // nothing to run: it is complete as soon as what it waits for is
};
inline constexpr std::size_t kCoreKinds = 3;

/// When blocks of a task may begin.
enum class BlockStart : std::uint8_t {
  separate,  // each as soon as a core is free
  together,  // all or none: they wait for each other
};

/// The kernels of a cluster: its cube core runs the first, its vector cores the others. Null: nothing.
struct ClusterKernels {
  std::array<BatonKernelFunction, 3> entry{};
  std::array<const char*, 3> name{};
};

/// What few tasks have. Lives as long as the arguments.
struct TaskExtra {
  /// The task runs only if this element, an integer, compares so with `value`.
  bool has_predicate = false;
  WaitCmp comparison = WaitCmp::ne;
  /// The last argument is the address of the kernel's completion queue, which its core knows.
  bool completion_queue = false;
  std::int64_t value = 0;
  ChipTensor* element = nullptr;

  /// Whether the task is to run.
  [[nodiscard]] bool holds() const noexcept;
};

/// What a submission says about a task. Written by the submitter before the task is linked, read by cores after that.
struct TaskPlan {
  BatonKernelFunction entry = nullptr;
  const char* name = "";  // lives as long as the kernel's library
  std::int64_t* args = nullptr;
  const ClusterKernels* cluster = nullptr;
  union {
    /// Of a task without a kernel (Cores::none): it waits for `*counter >= expected`. Null: for nothing.
    const std::int32_t* counter = nullptr;
    /// Of all others. Null: nothing special.
    const TaskExtra* extra;
  };
  std::int32_t expected = 0;
  std::uint32_t arg_count = 0;
  std::uint32_t tensor_count = 0;  // they come first
  std::uint32_t blocks = 1;
  std::int32_t priority = 0;
  Cores cores = Cores::vector;
  BlockStart start = BlockStart::separate;
  std::uint16_t turn = 0;  // with a seed: who of those with the same priority goes first

  /// A task without a kernel is completed by a vector core.
  [[nodiscard]] Cores serving_cores() const noexcept { return cores == Cores::none ? Cores::vector : cores; }
  [[nodiscard]] bool waits_for_counter() const noexcept { return cores == Cores::none && counter != nullptr; }
  [[nodiscard]] const TaskExtra* extras() const noexcept { return cores == Cores::none ? nullptr : extra; }
};

/// What decides how a task that is ready gets to a core, without a look at the task.
enum class TaskKind : std::uint8_t {
  vector,  // one block for one core, without a priority
  cube,
  other,
};
[[nodiscard]] inline TaskKind kind_of(const TaskPlan& plan) noexcept {
  if (plan.priority != 0 || plan.blocks != 1 || plan.extras() != nullptr) return TaskKind::other;
  return plan.cores == Cores::vector ? TaskKind::vector : plan.cores == Cores::cube ? TaskKind::cube : TaskKind::other;
}

/// Lives in a TaskBlock, or in CapturedTasks. The first cache line is what threads contend for.
struct alignas(64) Task {
  /// The end of the list of a task that is complete.
  static Edge* closed() noexcept {
    static Edge mark;
    return &mark;
  }

  /// Tasks that must complete first, plus one while the task is being submitted. A captured task has it elsewhere.
  std::atomic<std::uint32_t> pending{0};
  /// Blocks that no core has begun.
  std::atomic<std::uint32_t> blocks_to_start{0};
  /// Kernels that have not returned and conditions that do not hold yet.
  std::atomic<std::uint32_t> parts_to_finish{0};
  /// Whether it was deferred, and so is no longer counted against the window.
  std::atomic<bool> left_window{false};
  /// Whether its run is timed: the submitter wants to know how long its kernel takes.
  bool measured = false;
  /// Who waits for this task; closed() once it is complete.
  std::atomic<Edge*> waiting{nullptr};
  /// Why it failed, or why it will not run; set once, by the first failure.
  std::atomic<const TaskFailure*> failure{nullptr};
  TaskId id = 0;
  /// Where it lives: one of them.
  TaskBlock* block = nullptr;
  CapturedTasks* graph = nullptr;

  alignas(64) TaskPlan plan;

  static constexpr std::size_t kInlineArguments = 8;
  /// The arguments, if they fit: in the line that follows what else its core needs.
  std::array<std::int64_t, kInlineArguments> inline_args;

  static constexpr std::size_t kInlineEdges = 3;
  std::array<Edge, kInlineEdges> inline_edges{};
  Place where{};

  /// What the plan says has to be done.
  void set_counts() noexcept {
    // Only written: reading them would wait for a line that is in the cache of the thread that ran the task before.
    blocks_to_start.store(plan.blocks, std::memory_order_relaxed);
    parts_to_finish.store(parts(), std::memory_order_relaxed);
  }
  /// The same for a captured task, which mostly ends as it began: what is not written need not travel to memory.
  void put_counts_back() noexcept {
    put_back(blocks_to_start, plan.blocks);
    put_back(parts_to_finish, parts());
    put_back(left_window, false);
  }
  template <class T>
  static void put_back(std::atomic<T>& word, T value) noexcept {
    if (word.load(std::memory_order_relaxed) != value) word.store(value, std::memory_order_relaxed);
  }
  /// Kernels that have to return.
  [[nodiscard]] std::uint32_t parts() const noexcept {
    if (plan.cluster == nullptr) return plan.blocks;
    std::uint32_t kernels = 0;
    for (const BatonKernelFunction entry : plan.cluster->entry) kernels += entry == nullptr ? 0U : 1U;
    return kernels * plan.blocks;
  }

  /// What a core reads.
  void prefetch() const noexcept {
    __builtin_prefetch(this);
    __builtin_prefetch(&plan);
    __builtin_prefetch(&inline_args);
  }
  /// What its submitter writes and a core reads, for the submitter.
  void prefetch_to_fill() noexcept {
    __builtin_prefetch(this, 1);
    __builtin_prefetch(&plan, 1);
    __builtin_prefetch(&inline_args, 1);
  }

  [[nodiscard]] bool complete() const noexcept {
    // Pairs with the exchange in Scheduler::finish(): what the task wrote is visible to a thread that sees this.
    return waiting.load(std::memory_order_acquire) == closed();
  }
};

static_assert(sizeof(Task) == 256);

}  // namespace baton::chip
