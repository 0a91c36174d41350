// Threads that run host functions.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <baton/worker.hpp>

namespace baton::node {

/// A host function with its arguments.
struct SubTask {
  SubFunction function;
  std::vector<Tensor> tensors;
  std::vector<std::int64_t> scalars;
};

class SubWorkers {
 public:
  /// Called on a thread of the pool when a task has ended; `failure` is what it threw, or null.
  using OnEnd = std::function<void(std::uint64_t id, std::exception_ptr failure)>;

  /// Threads start with the first task.
  SubWorkers(int count, OnEnd on_end) : count_(count), on_end_(std::move(on_end)) {}
  SubWorkers(const SubWorkers&) = delete;
  SubWorkers& operator=(const SubWorkers&) = delete;
  /// After all tasks have ended.
  ~SubWorkers();

  void start(std::uint64_t id, SubTask task);

 private:
  void work();

  int count_;
  OnEnd on_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::uint64_t, SubTask>> tasks_;  // guarded by mutex_
  bool stop_ = false;                                    // guarded by mutex_
  std::vector<std::thread> threads_;                     // guarded by mutex_
};

}  // namespace baton::node
