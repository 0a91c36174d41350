#include "chip/device/noted_tasks.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/ticks.hpp"

namespace baton::chip {
namespace {

/// Which of the two: a device that tells of progress tells no more of where a task ran. Those of a cluster are with the
/// cube cores.
std::int16_t lane_of(Cores cores) noexcept { return cores == Cores::vector ? 1 : 0; }

}  // namespace

NotedTasks::Moment NotedTasks::now() noexcept {
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  return {ticks(), std::chrono::duration_cast<std::chrono::nanoseconds>(steady).count()};
}

void NotedTasks::name_lane(int core, const char* name) const {
  const std::uint64_t now = ticks();
  events::record({.begin = now,
                  .end = now,
                  .kind = EventKind::lane,
                  .lane = core_lane(core),
                  .rank = profiler_->rank(),
                  .object = events::text(name)});
}

void NotedTasks::tell(Profiler* profiler, Source source) {
  profiler_ = profiler;
  source_ = source;
  thread_ = profiler == nullptr ? nullptr : &profiler->add_thread();
  lanes_.clear();
  cores_.clear();
  if (profiler == nullptr || !events::tracing() || source == Source::blocks) return;
  name_lane(0, "cube cores");
  name_lane(1, "vector cores");
}

void NotedTasks::add(const Task& task, std::uint64_t graph, std::uint64_t submitted) {
  Noted noted;
  noted.named = {task.id, graph, task.plan.name, task.where, source_ == Source::blocks && task.plan.blocks > 1};
  noted.cores = task.plan.cores;
  noted.submitted = submitted;
  tasks_.push_back(noted);
}

void NotedTasks::begin() {
  if (profiler_ == nullptr) return;
  began_ = now();
  tasks_.clear();
  blocks_.clear();
}

void NotedTasks::begin(const CapturedTasks& graph) {
  if (profiler_ == nullptr) return;
  begin();
  for (TaskId id = 1; id <= graph.newest(); ++id) add(graph[id], graph.number(), began_.ticks);
}

void NotedTasks::submitted(CapturedTasks& graph) {
  if (profiler_ != nullptr) add(graph.newest_task(), graph.number(), ticks());
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

void NotedTasks::note(const BatonBlockTimes& block) {
  if (block.task < tasks_.size()) blocks_.push_back(block);
}

void NotedTasks::count(const BatonBlockTimes& block, std::uint64_t ticks) {
  if (cores_.size() <= block.core) cores_.resize(block.core + std::size_t{1});
  ++cores_[block.core].kernels;
  cores_[block.core].ticks += ticks;
}

/// The clock of the device is compared with that of the host, which is never exact: nothing is outside of the run.
void NotedTasks::place_blocks() {
  const Moment end = now();
  const double ticks_per_ns = static_cast<double>(end.ticks - began_.ticks) /
                              static_cast<double>(std::max<std::int64_t>(end.nanoseconds - began_.nanoseconds, 1));
  const auto ticks_of = [&](std::uint64_t nanoseconds) {
    const std::int64_t inside = std::clamp(static_cast<std::int64_t>(nanoseconds), began_.nanoseconds, end.nanoseconds);
    return began_.ticks + static_cast<std::uint64_t>(static_cast<double>(inside - began_.nanoseconds) * ticks_per_ns);
  };
  for (const BatonBlockTimes& block : blocks_) {
    Noted& task = tasks_[block.task];
    const bool ran = block.started != 0;
    if (block.completed != 0) task.completed = std::max(task.completed, ticks_of(block.completed));
    if (!ran) continue;
    const std::uint64_t started = ticks_of(block.started);
    const std::uint64_t returned = block.returned == 0 ? end.ticks : ticks_of(block.returned);
    if (task.run.started == 0 || started < task.run.started) {
      task.run.started = task.run.dispatched = started;
      task.run.core = static_cast<std::int16_t>(block.core);
    }
    task.run.returned = std::max(task.run.returned, returned);
    task.deferred = task.deferred || block.completed > block.returned;
    task.unfinished = task.unfinished || block.completed == 0;
    count(block, returned - started);
    if (!events::tracing()) continue;
    if (lanes_.insert(block.core).second) {
      name_lane(static_cast<int>(block.core), fmt::format("core {}", block.core).c_str());
    }
    if (task.named.in_blocks) {
      profiler_->add_block(task.named, block.block, static_cast<int>(block.core), started, returned);
    }
  }
}

TaskOutcome NotedTasks::outcome_of(const Noted& noted, bool has_failed) noexcept {
  if (has_failed) return TaskOutcome::failed;
  if (noted.completed == 0 || noted.unfinished) return TaskOutcome::not_run;
  return noted.deferred ? TaskOutcome::deferred : TaskOutcome::done;
}

void NotedTasks::end(const CapturedTasks& graph, std::optional<std::uint32_t> failed) {
  if (profiler_ == nullptr) return;
  place_blocks();
  profiler_->high_water.tasks = std::max<std::uint64_t>(profiler_->high_water.tasks, tasks_.size());
  const std::uint64_t now = ticks();
  for (std::size_t index = 0; index < tasks_.size(); ++index) {
    Noted& noted = tasks_[index];
    const bool has_kernel = noted.cores != Cores::none;
    if (has_kernel && noted.run.dispatched != 0 && noted.run.core < 0) noted.run.core = lane_of(noted.cores);
    // Not run because its predicate does not hold: complete all the same, for those behind it.
    const bool runs = !has_kernel || noted.run.dispatched != 0;
    TaskTimes times{noted.submitted, noted.submitted};
    for (const TaskId earlier : graph.predecessors(noted.named.id)) {
      times.ready = std::max(times.ready, tasks_[static_cast<std::size_t>(earlier - 1)].completed);
    }
    const TaskOutcome outcome = runs || failed == index ? outcome_of(noted, failed == index) : TaskOutcome::not_run;
    profiler_->add(*thread_, noted.named, times, noted.run, outcome, noted.completed != 0 ? noted.completed : now);
  }
  tasks_.clear();
  blocks_.clear();
}

std::vector<CoreProfile> NotedTasks::core_profiles(std::uint64_t elapsed_ticks) const {
  std::vector<CoreProfile> profiles;
  for (std::size_t core = 0; core < cores_.size(); ++core) {
    if (cores_[core].kernels == 0) continue;
    const double busy =
        static_cast<double>(cores_[core].ticks) / static_cast<double>(std::max<std::uint64_t>(elapsed_ticks, 1));
    profiles.push_back({fmt::format("core {}", core), cores_[core].kernels, busy});
  }
  return profiles;
}

}  // namespace baton::chip
