#include "chip/sched/ready_queue.hpp"

namespace baton::chip {

void ReadyQueue::push_beyond(Task& task) {
  const std::lock_guard lock(mutex_);
  beyond_.push_back(&task);
  // Pairs with empty(), as the change of `tail_` does.
  beyond_count_.fetch_add(1, std::memory_order_seq_cst);
}

Task* ReadyQueue::pop_beyond() {
  const std::lock_guard lock(mutex_);
  if (beyond_.empty()) return nullptr;
  Task* task = beyond_.front();
  beyond_.pop_front();
  beyond_count_.fetch_sub(1, std::memory_order_relaxed);
  return task;
}

}  // namespace baton::chip
