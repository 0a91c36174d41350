// Threads that run host functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <baton/worker.hpp>

#include "comm/shared_memory.hpp"

namespace baton::node {

/// A host function with its arguments.
struct SubTask {
  SubFunction function;
  std::vector<Tensor> tensors;
  std::vector<std::int64_t> scalars;
  /// What the tensors lie in. A function that was given up may go on to use it.
  std::vector<std::shared_ptr<comm::SharedMemory>> memory = {};
};

class SubWorkers {
 public:
  /// Called once for each task, on a thread of the pool, when it has ended or was given up; `failure` is what it threw,
  /// or null.
  using OnEnd = std::function<void(std::uint64_t id, std::exception_ptr failure)>;

  /// Threads start with the first task. A function that runs for longer than `limit` (0: none) and kGrace is given up
  /// with an error (kernel_timeout): nothing can interrupt it, so its thread goes on without the pool.
  SubWorkers(int count, std::chrono::nanoseconds limit, OnEnd on_end);
  SubWorkers(const SubWorkers&) = delete;
  SubWorkers& operator=(const SubWorkers&) = delete;
  /// After all tasks have ended or were given up.
  ~SubWorkers();

  void start(std::uint64_t id, SubTask task);

 private:
  class Pool;

  /// Functions that have processes to end at the limit, as those of Python, do so before they are given up.
  static constexpr std::chrono::seconds kGrace{2};

  std::shared_ptr<Pool> pool_;
};

}  // namespace baton::node
