#include "platform/ascend/deferred.hpp"

#include <algorithm>

namespace baton::ascend {

bool Deferred::are_running() const noexcept {
  return std::ranges::any_of(tasks_waiting_, [](const Waiting& waiting) { return !waiting.conditions; });
}

Deferred::Outcome Deferred::look(const std::function<bool(std::uint32_t)>& has_returned,
                                 const std::function<void(std::uint32_t)>& complete, std::uint32_t& failed_task) {
  Outcome outcome = Outcome::nothing_new;
  std::erase_if(tasks_waiting_, [&](Waiting& waiting) {
    if (!waiting.conditions) {
      if (!has_returned(waiting.task)) return false;
      failed_task = waiting.task;  // of what is thrown here
      waiting.conditions = conditions_of(npu_, tasks_[waiting.task], extents_);
      failed_task = BATON_NO_TASK;
      outcome = Outcome::progress;
    }
    std::erase_if(*waiting.conditions,
                  [&](const Condition& condition) { return value_of(npu_, condition) >= condition.expected; });
    if (!waiting.conditions->empty()) return false;
    complete(waiting.task);
    outcome = Outcome::progress;
    return true;
  });
  return outcome;
}

std::optional<Deferred::Unmet> Deferred::first_unmet() const {
  for (const Waiting& waiting : tasks_waiting_) {
    if (waiting.conditions) return Unmet{waiting.task, waiting.conditions->front()};
  }
  return std::nullopt;
}

}  // namespace baton::ascend
