#include "chip/sched/failure.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace baton::chip {
namespace {

/// The report names this many tasks that did not run; the others are counted.
constexpr std::size_t kNamedHeld = 8;

bool is_given_up(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const GivenUp&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

std::string describe_task(TaskId task, const std::string& kernel, const Place& where) {
  const std::string name = kernel.empty() ? "a task without a kernel" : kernel;
  if (where.line == 0) return fmt::format("{} (task {})", name, task);
  return fmt::format("{} (task {}, submitted at {}:{})", name, task, where.file, where.line);
}

std::string describe_task(const Task& task) { return describe_task(task.id, task.plan.name, task.where); }

const TaskFailure* FailureLog::add_failure(const Task& task, std::exception_ptr cause) {
  const bool given_up = is_given_up(cause);
  const std::lock_guard lock(mutex_);
  failures_.push_back(
      std::make_unique<TaskFailure>(TaskFailure{task.id, task.plan.name, task.where, std::move(cause), given_up}));
  any_.store(true, std::memory_order_seq_cst);
  return failures_.back().get();
}

void FailureLog::add_not_run(const Task& task, const TaskFailure& because) {
  const std::lock_guard lock(mutex_);
  not_run_.push_back({task.id, task.plan.name, task.where, because.task});
}

bool FailureLog::any_but_given_up() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(failures_, [](const auto& failure) { return !failure->given_up; });
}

void FailureLog::raise() const {
  const std::lock_guard lock(mutex_);
  const TaskFailure& root = **std::ranges::find_if(failures_, [](const auto& failure) { return !failure->given_up; });
  std::vector<std::string> notes = {fmt::format("in {}", describe_task(root.task, root.kernel, root.where))};
  std::vector<TaskNotRun> held = not_run_;
  std::ranges::sort(held, {}, &TaskNotRun::task);
  if (!held.empty()) {
    std::string names;
    for (std::size_t i = 0; i < std::min(held.size(), kNamedHeld); ++i) {
      if (i > 0) names += ", ";
      names += describe_task(held[i].task, held[i].kernel, held[i].where);
    }
    if (held.size() > kNamedHeld) names += fmt::format(" and {} more", held.size() - kNamedHeld);
    notes.push_back(fmt::format("{} task{} did not run: {}", held.size(), held.size() == 1 ? "" : "s", names));
  }
  const auto given_up =
      static_cast<std::size_t>(std::ranges::count_if(failures_, [](const auto& failure) { return failure->given_up; }));
  const std::size_t others = failures_.size() - given_up - 1;
  if (others > 0) notes.push_back(fmt::format("{} other task{} failed too", others, others == 1 ? "" : "s"));
  if (given_up > 0) {
    notes.push_back(fmt::format("{} wait{} for a notification ended early", given_up, given_up == 1 ? "" : "s"));
  }
  try {
    std::rethrow_exception(root.cause);
  } catch (const Error& error) {
    std::vector<std::string> all = error.notes();
    all.insert(all.end(), notes.begin(), notes.end());
    throw Error(error.code(), error.message(), all, error.remedy());
  } catch (const std::exception& error) {
    throw Error(Code::kernel_fault, fmt::format("kernel '{}' threw: {}", root.kernel, error.what()), notes);
  }
}

void FailureLog::clear() {
  const std::lock_guard lock(mutex_);
  failures_.clear();
  not_run_.clear();
  any_.store(false, std::memory_order_relaxed);
}

}  // namespace baton::chip
