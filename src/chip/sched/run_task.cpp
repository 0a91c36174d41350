// From a task that a core has taken to those that become ready by it.
#include <algorithm>
#include <cstring>
#include <utility>

#include <chip_tensor.h>
#include <baton/tensor.hpp>

#include "chip/cores/checked_chip.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {
namespace {

/// Null where a core of the cluster runs nothing.
std::array<const char*, kClusterParts> kernel_names(const ClusterKernels& kernels) {
  std::array<const char*, kClusterParts> names{};
  for (std::size_t part = 0; part < kClusterParts; ++part) {
    if (kernels.entry[part] != nullptr) names[part] = kernels.name[part] == nullptr ? "?" : kernels.name[part];
  }
  return names;
}

}  // namespace

bool TaskExtra::holds() const noexcept {
  const auto dtype = static_cast<DType>(element->dtype);
  const std::size_t bytes = size_of(dtype);
  const auto* address = reinterpret_cast<const std::byte*>(element->buffer.addr) + element->start_offset * bytes;
  std::uint64_t bits = 0;
  std::memcpy(&bits, address, bytes);
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  return baton::holds(static_cast<std::int64_t>(bits << unused) >> unused, comparison, value);
}

bool Scheduler::cluster_is_free(const Seat& cube) const {
  const auto& seats = seats_of_cluster_[static_cast<std::size_t>(cube.core.position().cluster)];
  return std::ranges::all_of(seats, [](const Seat* seat) { return seat->assigned == nullptr; });
}

Task* Scheduler::run(CoreThread& thread, Seat& seat, Task& task) {
  const TaskPlan& plan = task.plan;
  if (seat.assigned == &task) {
    const std::uint32_t block = seat.assigned_block;
    const auto place = 1 + static_cast<std::size_t>(seat.core.position().sub_block);
    // The cube core may hand out the next part.
    seat.assigned = nullptr;
    seat.call.pipes = std::move(seat.assigned_pipes);
    return run_block(thread, seat, task, plan.cluster->entry[place], plan.cluster->name[place], block);
  }
  if (profiling() && task.blocks_to_start.load(std::memory_order_relaxed) == plan.blocks) [[unlikely]]
    note_dispatch(seat, task);
  if (task.failure.load(std::memory_order_relaxed) != nullptr) return skip(thread, seat, task);
  if (plan.cores == Cores::none) return run_without_kernel(thread, task, seat.takes);
  if (plan.extra != nullptr && !must_run(task)) [[unlikely]]
    return pass_over(thread, seat, task);
  std::uint32_t block = 0;
  if (plan.blocks > 1) {
    if (plan.start == BlockStart::together && !begin_together(task)) return nullptr;
    const std::uint32_t left = task.blocks_to_start.fetch_sub(1, std::memory_order_relaxed);
    block = plan.blocks - left;
    if (left > 1) {
      make_ready(task, &thread);
      call_all();
    } else if (plan.start == BlockStart::together) {
      end_together(thread);
    }
  }
  if (plan.cores == Cores::cluster) {
    assign_to_cluster(thread, seat, task, block);
    if (plan.cluster->entry[0] == nullptr) return nullptr;
    return run_block(thread, seat, task, plan.cluster->entry[0], plan.cluster->name[0], block);
  }
  return run_block(thread, seat, task, plan.entry, plan.name, block);
}

bool Scheduler::must_run(const Task& task) noexcept {
  // Its first block decides: what a kernel of the task itself writes does not change it.
  if (task.blocks_to_start.load(std::memory_order_relaxed) != task.plan.blocks) return true;
  return !task.plan.extra->has_predicate || task.plan.extra->holds();
}

bool Scheduler::begin_together(Task& task) {
  const std::lock_guard lock(together_mutex_);
  if (starting_together_ == nullptr) starting_together_ = &task;
  if (starting_together_ == &task) return true;
  waiting_together_.push_back(&task);
  return false;
}

void Scheduler::end_together(CoreThread& thread) {
  Task* next = nullptr;
  {
    const std::lock_guard lock(together_mutex_);
    starting_together_ = nullptr;
    if (waiting_together_.empty()) return;
    next = waiting_together_.front();
    waiting_together_.pop_front();
  }
  make_ready(*next, &thread);
}

void Scheduler::assign_to_cluster(CoreThread& thread, Seat& cube, Task& task, std::uint32_t block) {
  const auto pipes = std::make_shared<ClusterPipes>(kernel_names(*task.plan.cluster));
  if (profiling()) [[unlikely]]
    pipes->token = memory_.checked().next_token();
  if (task.plan.cluster->entry[kCubePart] != nullptr) cube.call.pipes = pipes;
  for (Seat* seat : seats_of_cluster_[static_cast<std::size_t>(cube.core.position().cluster)]) {
    if (seat == &cube) continue;
    if (task.plan.cluster->entry[1 + static_cast<std::size_t>(seat->core.position().sub_block)] == nullptr) continue;
    seat->assigned = &task;
    seat->assigned_block = block;
    seat->assigned_pipes = pipes;
    auto& idle = thread.idle_in(Cores::vector);
    if (std::ranges::find(idle, seat) != idle.end()) wake_core(thread, *seat);
  }
}

Task* Scheduler::run_block(CoreThread& thread, Seat& seat, Task& task, BatonKernelFunction entry, const char* name,
                           std::uint32_t block) {
  KernelCall& call = seat.call;
  const TaskPlan& plan = task.plan;
  call.entry = entry;
  call.name = name;
  call.take_arguments({plan.args, plan.arg_count});
  // Captured tasks lie in memory as they were submitted, and most are run in about that order. Those of a stream are
  // perhaps being filled.
  if (task.graph != nullptr) (&task + kPrefetched)->prefetch();
  call.block_index = static_cast<std::int32_t>(block);
  call.block_count = static_cast<std::int32_t>(plan.blocks);
  call.task = task.id;
  call.condition_capacity = kConditionsPerKernel;
  if (plan.extra != nullptr && plan.extra->completion_queue) [[unlikely]]
    call.completion_queue_slot = plan.arg_count - 1;
  ++thread.busy;
  --thread.looking_in(seat.takes);
  seat.running.store(&task, std::memory_order_relaxed);
  const std::int64_t started = task.measured ? now_ns() : 0;
  if (profiling()) [[unlikely]] {
    run_timed(seat, task);
  } else {
    seat.core.run(call);
  }
  if (task.measured) lengths_.note(entry, now_ns() - started);
  ++thread.looking_in(seat.takes);
  --thread.busy;
  return after_kernel(thread, seat, task);
}

Task* Scheduler::after_kernel(CoreThread& thread, Seat& seat, Task& task) {
  KernelCall& call = seat.call;
  seat.running.store(nullptr, std::memory_order_relaxed);
  call.completion_queue_slot.reset();
  if (call.pipes != nullptr) call.pipes.reset();
  if (call.error) [[unlikely]] {
    fail_task(task, std::exchange(call.error, nullptr));
  }
  if (profiling()) [[unlikely]]
    note_end(thread.notes, seat, task, !call.conditions.empty());
  if (!call.conditions.empty()) [[unlikely]] {
    if (defer(task, call.conditions)) count_left(thread);
    call.conditions.clear();
  }
  return finish_part(thread, task, seat.takes);
}

bool Scheduler::defer(Task& task, const std::vector<Condition>& conditions) {
  // The task is completed later, by another thread.
  if (alone()) call_the_others();
  bool leaves = false;
  for (const Condition& condition : conditions) {
    task.parts_to_finish.fetch_add(1, std::memory_order_relaxed);
    bool kept = false;
    try {
      kept = deferred_.add(condition, task);
    } catch (...) {
      fail_task(task, std::current_exception());
    }
    if (!kept) {
      task.parts_to_finish.fetch_sub(1, std::memory_order_relaxed);
    } else if (!task.left_window.exchange(true, std::memory_order_relaxed)) {
      leaves = true;
    }
  }
  if (profiling()) profiler_->note_deferred(deferred_.count());
  return leaves;
}

Task* Scheduler::finish_part(CoreThread& thread, Task& task, Cores cores) {
  return count_down(task.parts_to_finish) ? complete(thread, task, cores) : nullptr;
}

Task* Scheduler::run_without_kernel(CoreThread& thread, Task& task, Cores cores) {
  if (profiling()) [[unlikely]]
    note_passed(task);
  if (task.plan.counter != nullptr) {
    const Condition condition{.kind = ConditionKind::counter,
                              .address = task.plan.counter,
                              .expected = static_cast<std::uint32_t>(task.plan.expected)};
    if (defer(task, {condition})) count_left(thread);
  }
  return finish_part(thread, task, cores);
}

Task* Scheduler::skip(CoreThread& thread, const Seat& seat, Task& task) {
  failures_.add_not_run(task, *task.failure.load(std::memory_order_relaxed));
  if (profiling()) {
    note_end(thread.notes, seat, task, false);
    note_passed(task);
  }
  return complete(thread, task, seat.takes);
}

Task* Scheduler::pass_over(CoreThread& thread, const Seat& seat, Task& task) {
  if (profiling()) [[unlikely]]
    note_passed(task);
  return complete(thread, task, seat.takes);
}

void Scheduler::fail_task(Task& task, std::exception_ptr cause) {
  const TaskFailure* failure = failures_.add_failure(task, std::move(cause));
  poison(task, *failure);
  // Pairs with wait_at_submitter(): the failure was noted before.
  if (submitter_waits_.load(std::memory_order_seq_cst) && wish_failure_.load(std::memory_order_relaxed)) grant();
}

void Scheduler::poison(Task& successor, const TaskFailure& failure) noexcept {
  const TaskFailure* none = nullptr;
  successor.failure.compare_exchange_strong(none, &failure, std::memory_order_relaxed);
}

bool Scheduler::release(Task& successor, const TaskFailure* failure) noexcept {
  if (failure != nullptr) poison(successor, *failure);
  // Pairs with submit(), too, which counts what the task is made of.
  return count_down(successor.pending);
}

Task* Scheduler::complete(CoreThread& thread, Task& task, Cores cores) {
  // What was kept first: it has had the time to come into the cache.
  Task* direct = thread.pop_kept(cores);
  const TaskKind mine = cores == Cores::vector ? TaskKind::vector
                        : cores == Cores::cube ? TaskKind::cube
                                               : TaskKind::other;
  int pushed = 0;
  std::uint64_t now = 0;
  if (profiling()) [[unlikely]]
    now = note_completion(thread.notes, task);
  const auto ready = [&](Task& successor, TaskKind kind) {
    if (now != 0) [[unlikely]] {
      // It may have been submitted since.
      TaskTimes& times = times_of(successor);
      times.ready = std::max(times.submitted, now);
    }
    if (direct == nullptr && kind == mine && !options_.seed) {
      direct = &successor;
    } else if (options_.seed || kind == TaskKind::other || !thread.keep(successor, kind)) {
      make_ready(successor, &thread);
      ++pushed;
    }
  };
  const TaskFailure* failure = task.failure.load(std::memory_order_relaxed);
  const TaskId id = task.id;
  const bool left_before = task.left_window.load(std::memory_order_relaxed);
  if (task.graph != nullptr) {
    CapturedTasks& graph = *task.graph;
    const auto released = [&](Task& successor) {
      if (failure != nullptr) poison(successor, *failure);
    };
    graph.complete(task, released, ready);
  } else {
    // Pairs with depend() and complete() of Task: what the task did is visible to a thread that sees it.
    Edge* edge = task.waiting.exchange(Task::closed(), std::memory_order_seq_cst);
    while (edge != nullptr) {
      // The edge lies in its task, which is gone once it has run.
      Edge* next = edge->next;
      Task& successor = *edge->successor;
      if (release(successor, failure)) ready(successor, kind_of(successor.plan));
      edge = next;
    }
    if (failure == nullptr) {
      count_done(thread, task);
    } else {
      blocks_.keep_failed(task);
    }
    // Pairs with wait_at_submitter(), which tests `waiting` after its announcement.
    if (submitter_waits_.load(std::memory_order_seq_cst) && wish_task_.load(std::memory_order_relaxed) == id) grant();
  }
  // Pairs with completed(): releases what the task did.
  const std::uint64_t completed = thread.completed.load(std::memory_order_relaxed) + 1;
  thread.completed.store(completed, std::memory_order_release);
  if (!left_before) count_left(thread);
  if (completed % kSampleTasks == 0) {
    sample(thread);
    look_at_wish(thread);
  }
  if (pushed > 0 && threads_.size() > 1) wake_helper(thread);
  return direct;
}

void Scheduler::count_left(CoreThread& thread) {
  thread.left_window.store(thread.left_window.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Scheduler::count_done(CoreThread& thread, const Task& task) {
  if (task.block != thread.done_in) {
    tell_done(thread);
    thread.done_in = task.block;
  }
  ++thread.done_count;
}

void Scheduler::tell_done(CoreThread& thread) {
  if (thread.done_count == 0) return;
  blocks_.done(*thread.done_in, thread.done_count);
  thread.done_in = nullptr;
  thread.done_count = 0;
}

void Scheduler::sample(CoreThread& thread) {
  const std::int64_t now = now_ns();
  const std::uint64_t completed = thread.completed.load(std::memory_order_relaxed);
  if (thread.sampled_at_ns != 0) {
    thread.task_ns.store((now - thread.sampled_at_ns) / static_cast<std::int64_t>(completed - thread.sampled_count),
                         std::memory_order_relaxed);
  }
  thread.sampled_at_ns = now;
  thread.sampled_count = completed;
}

}  // namespace baton::chip
