// What the scheduler notes of tasks while they are profiled.
#include <algorithm>
#include <atomic>
#include <utility>

#include "chip/cores/checked_chip.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {
namespace {

/// Whether one core does all of it.
bool runs_alone(const Task& task) noexcept { return kind_of(task.plan) != TaskKind::other; }

}  // namespace

void Scheduler::profile(Profiler* profiler) {
  profiler_ = profiler;
  if (profiler == nullptr) return;
  blocks_.keep_times();
  profiler->high_water.task_window = options_.window;
  const std::lock_guard lock(threads_mutex_);
  for (const auto& thread : threads_) thread->notes.profile = &profiler->add_thread();
  if (own_) own_->notes.profile = &profiler->add_thread();
  if (!events::tracing()) return;
  const auto name_lane = [&](const Core& core) {
    const std::uint64_t now = ticks();
    events::record({.begin = now,
                    .end = now,
                    .kind = EventKind::lane,
                    .lane = core_lane(core.position().number),
                    .rank = profiler->rank(),
                    .object = events::text(describe(core.position()))});
  };
  for (const auto& cluster : seats_of_cluster_) {
    for (const Seat* seat : cluster) name_lane(seat->core);
  }
  if (own_) name_lane(own_->seat.core);
}

void Scheduler::note_submission(const Task& task) const {
  TaskTimes& times = times_of(task);
  const std::uint64_t now = ticks();
  times.submitted = times.ready = now;
  if (is_checked()) memory_.checked().submitted(event_number(task));
  if (task.graph != nullptr) return;
  HighWater& high_water = profiler_->high_water;
  // Looking at what all threads have done costs more than the rest.
  if (high_water.tasks >= TaskBlock::kTasks && task.id % TaskBlock::kTasks != 0) return;
  high_water.tasks = std::max(high_water.tasks, in_window());
}

std::vector<CoreProfile> Scheduler::core_profiles(std::uint64_t elapsed_ticks) const {
  std::vector<CoreProfile> profiles;
  const auto add = [&](const Seat& seat, std::uint64_t kernels, std::uint64_t ticks) {
    if (kernels == 0) return;
    const double busy = static_cast<double>(ticks) / static_cast<double>(std::max<std::uint64_t>(elapsed_ticks, 1));
    profiles.push_back({describe(seat.core.position()), kernels, busy});
  };
  for (const auto& cluster : seats_of_cluster_) {
    for (const Seat* seat : cluster) add(*seat, seat->kernels, seat->busy_ticks);
  }
  if (own_) {
    // Those that simply ended are counted as tasks alone.
    std::uint64_t kernels = own_->seat.kernels;
    std::uint64_t ticks = own_->seat.busy_ticks;
    for (const ThreadProfile::Kernel& kernel : own_->notes.profile->kernels) {
      kernels += kernel.count;
      ticks += kernel.total;
    }
    add(own_->seat, kernels, ticks);
  }
  return profiles;
}

void Scheduler::note_dispatch(Seat& seat, const Task& task) {
  RunTimes& times = runs_alone(task) ? seat.times : run_times_of(task);
  times = {.dispatched = ticks(), .core = static_cast<std::int16_t>(seat.core.position().number)};
}

void Scheduler::run_timed(Seat& seat, const Task& task) const {
  const bool alone = runs_alone(task);
  RunTimes& times = alone ? seat.times : run_times_of(task);
  // A task alone has just been dispatched.
  const std::uint64_t started = alone ? times.dispatched : ticks();
  if (seat.call.block_index == 0 && times.started == 0) times.started = started;
  if (is_checked()) {
    run_checked(seat, task);
  } else {
    seat.core.run(seat.call);
  }
  const std::uint64_t returned = ticks();
  // With the other blocks, of which the last is to be seen.
  std::atomic_ref(times.returned).store(returned, std::memory_order_relaxed);
  seat.busy_ticks += returned - started;
  ++seat.kernels;
  if (!alone && events::tracing()) {
    NamedTask named = named_task(task);
    named.kernel = seat.call.name;
    profiler_->add_block(named, static_cast<std::uint32_t>(seat.call.block_index), seat.core.position().number, started,
                         returned);
  }
}

void Scheduler::run_checked(Seat& seat, const Task& task) const {
  CheckedChip& chip = memory_.checked();
  seat.call.activity = chip.next_activity();
  chip.begun(seat.call.activity, event_number(task));
  seat.core.run(seat.call);
  chip.ended(seat.call.activity, event_number(task));
  seat.call.activity = 0;
}

void Scheduler::note_passed(const Task& task) const {
  if (is_checked()) memory_.checked().passed(event_number(task));
}

void Scheduler::note_edges(const CapturedTasks& graph) const {
  for (TaskId id = 1; id <= graph.newest(); ++id) {
    for (const TaskId earlier : graph.predecessors(id)) {
      memory_.checked().waits_for(event_number(graph[id]), event_number(graph[earlier]));
    }
  }
}

NamedTask Scheduler::named_task(const Task& task) noexcept {
  return {task.id, task.graph == nullptr ? 0 : task.graph->number(), task.plan.name, task.where, !runs_alone(task)};
}

void Scheduler::note_end(ThreadNotes& notes, const Seat& seat, const Task& task, bool deferred) {
  if (!runs_alone(task)) return;
  if (deferred) {
    run_times_of(task) = seat.times;
  } else {
    notes.run_times = &seat.times;
  }
}

void Scheduler::run_own_timed() {
  Seat& seat = own_->seat;
  const std::uint64_t started = ticks();
  seat.core.run(seat.call);
  const std::uint64_t returned = ticks();
  seat.times = {started, started, returned, own_->number};
}

void Scheduler::note_own_kernel() {
  Seat& seat = own_->seat;
  seat.busy_ticks += seat.times.returned - seat.times.started;
  ++seat.kernels;
}

void Scheduler::note_in_place(TaskId task) const {
  const NamedTask named{.id = task, .kernel = own_->seat.call.name, .where = own_->where};
  profiler_->add_at_once(*own_->notes.profile, named, own_->seat.times);
}

std::uint64_t Scheduler::note_completion(ThreadNotes& notes, const Task& task) const {
  const RunTimes* own = std::exchange(notes.run_times, nullptr);
  const RunTimes& run = own != nullptr ? *own : run_times_of(task);
  const std::uint64_t now = own != nullptr && own->returned != 0 ? own->returned : ticks();
  const TaskFailure* failure = task.failure.load(std::memory_order_relaxed);
  TaskOutcome outcome = TaskOutcome::done;
  if (failure != nullptr) {
    outcome = failure->task == task.id ? TaskOutcome::failed : TaskOutcome::not_run;
  } else if (task.left_window.load(std::memory_order_relaxed)) {
    outcome = TaskOutcome::deferred;
  } else if (task.plan.extras() != nullptr && run.started == 0) {
    outcome = TaskOutcome::not_run;
  }
  profiler_->add(*notes.profile, named_task(task), times_of(task), run, outcome, now);
  return now;
}

}  // namespace baton::chip
