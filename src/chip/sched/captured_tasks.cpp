#include "chip/sched/captured_tasks.hpp"

#include "base/fail.hpp"

namespace baton::chip {

Task& CapturedTasks::begin() {
  if (count_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<Task[]>(kChunk));
  Task& task = at(count_);
  task.plan = {};
  task.id = ++count_;
  first_of_.push_back(predecessors_.size());
  last_successor_.push_back(0);
  return task;
}

void CapturedTasks::depend(TaskId earlier) {
  TaskId& last = last_successor_[static_cast<std::size_t>(earlier - 1)];
  if (last == count_) return;
  last = count_;
  predecessors_.push_back(earlier);
}

void CapturedTasks::end() {
  Task& task = at(count_ - 1);
  task.predecessor_count = static_cast<std::uint32_t>(predecessors_.size() - first_of_.back());
  task.set_counts();
  if (task.plan.counter != nullptr) waits_.push_back({&task, task.plan.expected});
}

void CapturedTasks::abandon() {
  for (std::size_t i = first_of_.back(); i < predecessors_.size(); ++i) {
    last_successor_[static_cast<std::size_t>(predecessors_[i] - 1)] = 0;
  }
  predecessors_.resize(first_of_.back());
  first_of_.pop_back();
  last_successor_.pop_back();
  --count_;
}

void CapturedTasks::close() {
  std::vector<std::uint64_t> next(count_ + 1, 0);
  for (const TaskId earlier : predecessors_) ++next[static_cast<std::size_t>(earlier)];
  for (std::size_t i = 1; i <= count_; ++i) next[i] += next[i - 1];
  // next[i] is where the successors of task i + 1 begin.
  successors_.resize(predecessors_.size());
  for (std::size_t i = 0; i < count_; ++i) {
    at(i).successors = successors_.data() + next[i];
    at(i).successor_count = static_cast<std::uint32_t>(next[i + 1] - next[i]);
  }
  for (TaskId id = 1; id <= count_; ++id) {
    for (const TaskId earlier : predecessors(id)) {
      successors_[static_cast<std::size_t>(next[static_cast<std::size_t>(earlier - 1)]++)] = &(*this)[id];
    }
  }
  for (TaskId id = 1; id <= count_; ++id) {
    Task& task = (*this)[id];
    if (task.predecessor_count != 0) continue;
    if (task.plan.priority != 0) {
      roots_by_priority_.push_back(&task);
    } else {
      roots_[static_cast<std::size_t>(task.plan.serving_lane())].push_back(&task);
    }
  }
  for (const Wait& wait : waits_) wait.task->plan.expected = 0;
}

std::span<const TaskId> CapturedTasks::predecessors(TaskId id) const noexcept {
  const auto index = static_cast<std::size_t>(id - 1);
  const std::uint64_t begin = first_of_[index];
  const std::uint64_t end = index + 1 < count_ ? first_of_[index + 1] : predecessors_.size();
  return {predecessors_.data() + begin, static_cast<std::size_t>(end - begin)};
}

void CapturedTasks::next_run() {
  for (const Wait& wait : waits_) {
    TaskPlan& plan = wait.task->plan;
    if (__builtin_add_overflow(plan.expected, wait.per_run, &plan.expected)) {
      fail(Code::out_of_range,
           "the wait for a notification of task {} cannot count beyond 2^31; capture the graph anew "
           "over a fresh signal",
           wait.task->id);
    }
  }
}

void CapturedTasks::forget_failures() noexcept {
  for (std::size_t i = 0; i < count_; ++i) at(i).failure.store(nullptr, std::memory_order_relaxed);
}

}  // namespace baton::chip
