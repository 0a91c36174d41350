#include "platform/ascend/launch_order.hpp"

#include <algorithm>

namespace baton::ascend {

LaunchOrder::LaunchOrder(std::span<const GraphTask> tasks) : tasks_(tasks), waits_for_(tasks.size()) {
  for (std::uint32_t task = 0; task < tasks.size(); ++task) {
    waits_for_[task] = static_cast<std::uint32_t>(tasks[task].before.size());
    if (waits_for_[task] == 0) add(task);
  }
}

bool LaunchOrder::comes_later(std::uint32_t a, std::uint32_t b) const {
  return tasks_[a].priority != tasks_[b].priority ? tasks_[a].priority < tasks_[b].priority : a > b;
}

void LaunchOrder::add(std::uint32_t task) {
  ready_.push_back(task);
  std::ranges::push_heap(ready_, [this](auto a, auto b) { return comes_later(a, b); });
}

std::optional<std::uint32_t> LaunchOrder::next() {
  if (ready_.empty()) return std::nullopt;
  std::ranges::pop_heap(ready_, [this](auto a, auto b) { return comes_later(a, b); });
  const std::uint32_t task = ready_.back();
  ready_.pop_back();
  return task;
}

void LaunchOrder::begun(std::uint32_t task) {
  for (const std::uint32_t later : tasks_[task].after) {
    if (--waits_for_[later] == 0) add(later);
  }
}

}  // namespace baton::ascend
