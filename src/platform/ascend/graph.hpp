// Tasks that a chip has taken, and what their kernels read, in its memory.
#pragma once

#include <span>
#include <vector>

#include <baton/platform.h>

#include "platform/ascend/npu.hpp"

namespace baton::ascend {

struct GraphTask {
  const LoadedKernel* kernel = nullptr;  // null: it is complete when those before it are
  std::uint32_t blocks = 1;
  std::uint32_t flags = 0;
  std::int32_t priority = 0;
  std::uint32_t comparison = 0;
  std::uint32_t dtype = 0;
  std::uint64_t address = 0;  // of a predicate's element, of a counter
  std::int64_t value = 0;
  std::vector<BatonDeviceArgument> tensors;
  std::vector<std::int64_t> scalars;
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> after;
  std::uint64_t arguments = 0;   // on the chip: arguments for each part, block by block
  std::uint64_t conditions = 0;  // likewise, one ConditionBlock for each; 0 until there are some

  /// What gets arguments of its own: a core, for each block.
  [[nodiscard]] std::uint32_t parts() const noexcept {
    if (kernel == nullptr) return 0;
    return blocks * static_cast<std::uint32_t>(kernel->cores ? kCoresOfCluster : 1);
  }
  /// Whether it may be complete later than its kernel returns.
  [[nodiscard]] bool may_defer() const noexcept {
    return kernel != nullptr && (kernel->may_defer || (flags & BATON_TASK_QUEUE) != 0);
  }
};

/// Of one part.
inline constexpr std::size_t kBytesOfArguments = 512;

class Graph {
 public:
  Graph(Npu& npu, std::span<const BatonDeviceTask> tasks, const std::uint64_t* first_predecessor,
        const std::uint32_t* predecessors);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  /// Other arguments, or another value to compare with.
  void set(std::size_t task, const BatonDeviceTask& changed);
  /// Runs all tasks and returns when they have ended. Throws the first failure; `failed_task` is the one that failed,
  /// or BATON_NO_TASK where nothing tells.
  void run(const BatonRunOptions& options, std::uint32_t& failed_task);

  /// Gives its memory back. Throws what goes wrong.
  void close();

 private:
  [[nodiscard]] GraphTask described(const BatonDeviceTask& task);
  void upload();

  Npu& npu_;
  std::vector<GraphTask> tasks_;
  std::uint64_t memory_ = 0;
  std::size_t memory_bytes_ = 0;
  std::uint64_t conditions_ = 0;  // what kernels leave of them, which is cleared before a run
  std::size_t conditions_bytes_ = 0;
  bool uploaded_ = false;
};

}  // namespace baton::ascend
