#include "node/sub_workers.hpp"

namespace baton::node {

SubWorkers::~SubWorkers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void SubWorkers::start(std::uint64_t id, SubTask task) {
  const std::lock_guard lock(mutex_);
  while (threads_.size() < static_cast<std::size_t>(count_)) threads_.emplace_back([this] { work(); });
  tasks_.emplace_back(id, std::move(task));
  changed_.notify_one();
}

void SubWorkers::work() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto [id, task] = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      task.function(ChipArgs(task.tensors, task.scalars));
    } catch (...) {
      failure = std::current_exception();
    }
    // What the function holds on to may be what the node waits to be rid of.
    task = {};
    on_end_(id, failure);
  }
}

}  // namespace baton::node
