#include "chip/device/noted_tasks.hpp"

#include <algorithm>

#include <baton/platform.h>

#include "base/ticks.hpp"

namespace baton::chip {
namespace {

/// Which of the two: a device tells no more of where a task ran. Those of a cluster are with the cube cores.
std::int16_t lane_of(const TaskPlan& plan) noexcept { return plan.cores == Cores::vector ? 1 : 0; }

}  // namespace

void NotedTasks::tell(Profiler* profiler) {
  profiler_ = profiler;
  thread_ = profiler == nullptr ? nullptr : &profiler->add_thread();
  if (profiler == nullptr || !events::tracing()) return;
  const std::uint64_t now = ticks();
  for (const int lane : {0, 1}) {
    events::record({.begin = now,
                    .end = now,
                    .kind = EventKind::lane,
                    .lane = core_lane(lane),
                    .rank = profiler->rank(),
                    .object = events::text(lane == 0 ? "cube cores" : "vector cores")});
  }
}

bool NotedTasks::begin(const CapturedTasks& graph) {
  if (profiler_ == nullptr) return false;
  began_ = ticks();
  tasks_.assign(static_cast<std::size_t>(graph.newest()), {});
  profiler_->high_water.tasks = std::max<std::uint64_t>(profiler_->high_water.tasks, tasks_.size());
  return true;
}

void NotedTasks::note(std::uint32_t task, std::uint32_t progress) noexcept {
  if (task >= tasks_.size()) return;
  Noted& noted = tasks_[task];
  const std::uint64_t now = ticks();
  switch (progress) {
    case BATON_TASK_DISPATCHED: noted.run.dispatched = now; break;
    case BATON_TASK_STARTED: noted.run.started = now; break;
    case BATON_TASK_RETURNED:
      noted.run.returned = now;
      noted.deferred = true;
      break;
    default:
      noted.completed = now;
      if (noted.run.started != 0 && noted.run.returned == 0) noted.run.returned = now;
      break;
  }
}

TaskOutcome NotedTasks::outcome_of(const Noted& noted, bool has_failed) noexcept {
  if (has_failed) return TaskOutcome::failed;
  if (noted.completed == 0) return TaskOutcome::not_run;
  return noted.deferred ? TaskOutcome::deferred : TaskOutcome::done;
}

void NotedTasks::end(const CapturedTasks& graph, std::optional<std::uint32_t> failed) {
  if (profiler_ == nullptr) return;
  const std::uint64_t now = ticks();
  for (TaskId id = 1; id <= graph.newest(); ++id) {
    const auto index = static_cast<std::size_t>(id - 1);
    const Task& task = graph[id];
    Noted& noted = tasks_[index];
    const bool has_kernel = task.plan.cores != Cores::none;
    if (has_kernel && noted.run.dispatched != 0) noted.run.core = lane_of(task.plan);
    // Not run because its predicate does not hold: complete all the same, for those behind it.
    const bool runs = !has_kernel || noted.run.dispatched != 0;
    TaskTimes times{began_, began_};
    for (const TaskId earlier : graph.predecessors(id)) {
      times.ready = std::max(times.ready, tasks_[static_cast<std::size_t>(earlier - 1)].completed);
    }
    const TaskOutcome outcome = runs ? outcome_of(noted, failed == index) : TaskOutcome::not_run;
    profiler_->add(*thread_, {id, graph.number(), task.plan.name, task.where, false}, times, noted.run, outcome,
                   noted.completed != 0 ? noted.completed : now);
  }
}

}  // namespace baton::chip
