// Why a run does not get on.
#include <algorithm>
#include <chrono>
#include <string>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {
namespace {

/// A report names this many of each kind; the others are counted.
constexpr std::size_t kNamed = 4;

/// "a, b and 3 more"; nothing for none.
template <class Items, class Describe>
std::string first_of(const Items& items, Describe&& describe) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kNamed); ++i) {
    if (i > 0) text += "; ";
    text += describe(items[i]);
  }
  if (items.size() > kNamed) text += fmt::format("; and {} more", items.size() - kNamed);
  return text;
}

/// Those whose list says that they wait for `task`. The submitter alone gives memory of tasks back, and it is here.
std::vector<const Task*> waiting_for(const Task& task) {
  std::vector<const Task*> waiting;
  if (task.graph != nullptr) {
    for (const std::uint32_t successor : task.graph->successors(task.id)) {
      waiting.push_back(&(*task.graph)[successor + TaskId{1}]);
    }
    return waiting;
  }
  // Pairs with depend().
  const Edge* edge = task.waiting.load(std::memory_order_acquire);
  for (; edge != nullptr && edge != Task::closed(); edge = edge->next) waiting.push_back(edge->successor);
  return waiting;
}

std::string describe_dependents(const Task& task) {
  const auto dependents = waiting_for(task);
  if (dependents.empty()) return "";
  return fmt::format(" ({} wait{} for it: {})", dependents.size(), dependents.size() == 1 ? "s" : "",
                     first_of(dependents, [](const Task* dependent) { return describe_task(*dependent); }));
}

}  // namespace

void Scheduler::report_stall(const Wish& wish) {
  std::string purpose = "all tasks";
  if (wish.task != 0) purpose = fmt::format("task {}", wish.task);
  if (wish.left_window != UINT64_MAX) {
    purpose = fmt::format("room in the window of {} tasks (BATON_TASK_WINDOW)", options_.window);
  }
  struct Busy {
    const Seat* seat;
    const Task* task;
  };
  std::vector<Busy> busy;
  const auto look_at = [&](const Seat& seat) {
    const Task* task = seat.running.load(std::memory_order_relaxed);
    if (task != nullptr) busy.push_back({&seat, task});
  };
  for (const auto& cluster : seats_of_cluster_) {
    for (const Seat* seat : cluster) look_at(*seat);
  }
  // A kernel that it left to the threads of the chip.
  if (own_) look_at(own_->seat);
  const auto deferred = deferred_.list();
  const std::uint64_t ready = ready_count();
  // Deferred tasks have deadlines of their own, which end with an error.
  if (busy.empty() && ready == 0 && !deferred.empty()) return;
  std::string text = fmt::format(
      "the orchestration has waited {:.3g} s or more for {}; tasks that are not complete: {}, ready: {}",
      std::chrono::duration<double>(options().wait_timeout).count(), purpose, submitted_ - completed(), ready);
  if (!busy.empty()) {
    text += fmt::format("\n  {} in kernels: {}", busy.size(), first_of(busy, [](const Busy& one) {
                          const std::string where = one.seat->core.where();
                          return fmt::format("{} in {}{}", describe(one.seat->core.position()),
                                             describe_task(*one.task), where.empty() ? "" : ", computing " + where);
                        }));
  }
  if (!deferred.empty()) {
    text += fmt::format("\n  {} deferred: {}", deferred.size(), first_of(deferred, [](const auto& one) {
                          return fmt::format("{} waits for {}{}", describe_task(*one.task), describe(one.condition),
                                             describe_dependents(*one.task));
                        }));
  }
  if (busy.empty() && deferred.empty() && ready == 0) {
    text += "\n  nothing runs, nothing is deferred and nothing is ready: a defect of the scheduler";
  }
  log::warn("{}", text);
}

}  // namespace baton::chip
