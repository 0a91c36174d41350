#include "chip/sched/captured_tasks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "base/fail.hpp"

namespace baton::chip {

Task& CapturedTasks::begin() {
  if (count_ == UINT32_MAX) fail(Code::out_of_range, "a captured graph has at most 2^32 - 1 tasks");
  if (count_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<Task[]>(kChunk));
  ++count_;
  Task& task = newest_task();
  task.plan = {};
  task.graph = this;
  task.id = count_;
  last_successor_.push_back(0);
  behind_ = 0;
  return task;
}

void CapturedTasks::depend(TaskId earlier) {
  TaskId& last = last_successor_[static_cast<std::size_t>(earlier - 1)];
  if (last == count_) return;
  last = count_;
  predecessors_.push_back(earlier);
  behind_ = std::max(behind_, all_before_[static_cast<std::size_t>(earlier - 1)]);
}

void CapturedTasks::end() {
  // What others imply is left out: a join that is repeated would otherwise wait for all that came before it.
  const auto mine = predecessors_.begin() + static_cast<std::ptrdiff_t>(first_of_.back());
  std::sort(mine, predecessors_.end());
  predecessors_.erase(mine, std::upper_bound(mine, predecessors_.end(), behind_));
  TaskId all_before = behind_;
  for (auto earlier = mine; earlier != predecessors_.end() && *earlier == all_before + 1; ++earlier) ++all_before;
  all_before_.push_back(all_before);
  first_of_.push_back(predecessors_.size());
  const Task& task = newest_task();
  if (task.plan.waits_for_counter()) waits_.push_back({task.id, task.plan.expected});
}

void CapturedTasks::abandon() {
  for (std::size_t i = first_of_.back(); i < predecessors_.size(); ++i) {
    last_successor_[static_cast<std::size_t>(predecessors_[i] - 1)] = 0;
  }
  predecessors_.resize(first_of_.back());
  last_successor_.pop_back();
  --count_;
}

void CapturedTasks::clear() {
  count_ = 0;
  arena_.reset();
  predecessors_.clear();
  first_of_.resize(1);
  all_before_.clear();
  behind_ = 0;
  last_successor_.clear();
  waits_.clear();
  number_ = next_number();
  prepared_.reset();
}

void CapturedTasks::Free::operator()(Task* tasks) const noexcept {
  static_assert(std::is_trivially_destructible_v<Task>);
  std::free(tasks);  // NOLINT(cppcoreguidelines-no-malloc)
}

void CapturedTasks::move_together() {
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  const std::size_t alignment = count_ * sizeof(Task) < kHugePage ? alignof(Task) : kHugePage;
  const std::size_t bytes = (std::max<std::size_t>(count_, 1) * sizeof(Task) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);  // NOLINT(cppcoreguidelines-no-malloc)
  if (memory == nullptr) fail(Code::out_of_memory, "no room for the {} tasks of a captured graph", count_);
  // Where the system has large pages: a run goes through all of it.
  if (alignment == kHugePage) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
  auto* tasks = static_cast<Task*>(memory);
  for (std::size_t i = 0; i < count_; ++i) {
    const Task& from = chunks_[i / kChunk][i % kChunk];
    Task& to = *new (tasks + i) Task;
    to.id = from.id;
    to.graph = from.graph;
    to.plan = from.plan;
    to.where = from.where;
    to.inline_args = from.inline_args;
    if (to.plan.args == from.inline_args.data()) to.plan.args = to.inline_args.data();
    to.set_counts();
  }
  tasks_.reset(tasks);
  chunks_.clear();
}

void CapturedTasks::close() {
  move_together();
  last_successor_ = {};
  all_before_ = {};
  // Where the next successor of each task goes.
  std::vector<std::uint64_t> next(count_ + 1, 0);
  for (const TaskId earlier : predecessors_) ++next[static_cast<std::size_t>(earlier)];
  for (std::size_t i = 1; i <= count_; ++i) next[i] += next[i - 1];
  first_successor_ = next;
  successors_.resize(predecessors_.size());
  pending_ = std::make_unique<std::atomic<std::uint32_t>[]>(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    for (const TaskId earlier : predecessors(i + 1)) {
      successors_[static_cast<std::size_t>(next[static_cast<std::size_t>(earlier - 1)]++)] =
          static_cast<std::uint32_t>(i);
    }
    pending_[i].store(predecessor_count(i), std::memory_order_relaxed);
    Task& task = (*this)[i + 1];
    kinds_.push_back(kind_of(task.plan));
    if (predecessor_count(i) != 0) continue;
    if (task.plan.priority != 0) {
      roots_by_priority_.push_back(&task);
    } else {
      roots_[static_cast<std::size_t>(task.plan.serving_cores())].push_back(&task);
    }
  }
  for (const Wait& wait : waits_) (*this)[wait.task].plan.expected = 0;
}

std::span<const TaskId> CapturedTasks::predecessors(TaskId id) const noexcept {
  const auto index = static_cast<std::size_t>(id - 1);
  return {predecessors_.data() + first_of_[index], predecessor_count(index)};
}

void CapturedTasks::next_run() {
  if (!waits_.empty()) arguments_changed();
  for (const Wait& wait : waits_) {
    TaskPlan& plan = (*this)[wait.task].plan;
    if (__builtin_add_overflow(plan.expected, wait.per_run, &plan.expected)) {
      fail(Code::out_of_range,
           "the wait for a notification of task {} cannot count beyond 2^31; capture the graph anew "
           "over a fresh signal",
           wait.task);
    }
  }
}

std::uint64_t CapturedTasks::next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void CapturedTasks::keep_times() {
  if (times_ != nullptr) return;
  times_ = std::make_unique<TaskTimes[]>(count_);
  run_times_ = std::make_unique<RunTimes[]>(count_);
}

void CapturedTasks::forget_failures() noexcept {
  for (std::size_t i = 0; i < count_; ++i) tasks_.get()[i].failure.store(nullptr, std::memory_order_relaxed);
}

}  // namespace baton::chip
