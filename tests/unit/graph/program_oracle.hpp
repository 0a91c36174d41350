// A random program of tasks, and the order it needs, found by marking every byte.
#pragma once

#include <array>
#include <bitset>
#include <vector>

#include "chip/graph/tensor_map.hpp"
#include "random_tensor.hpp"

namespace baton::test {

/// Runs one program: tasks with random accesses are recorded, some complete in between, in an order that the found
/// edges allow. Collects what is wrong.
class ProgramOracle {
 public:
  static constexpr std::size_t kMostTasks = 128;

  explicit ProgramOracle(graph::TensorMap& map) : map_(map) {}

  void begin_task();
  void access(const Tensor& tensor, graph::Use access);
  /// Some tasks whose predecessors are complete become complete.
  void complete_some(Random& random);
  /// From now on no order is needed with what was done to these bytes before.
  void forget_memory(const Buffer& range);

  [[nodiscard]] graph::TaskId task() const noexcept { return task_; }
  /// Edges that the order of bytes needs and that do not follow from the found ones.
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }
  /// Found edges between tasks that have no conflicting access to any byte.
  [[nodiscard]] std::uint64_t unjustified() const noexcept { return unjustified_; }
  [[nodiscard]] std::uint64_t found() const noexcept { return found_; }

 private:
  using Tasks = std::bitset<kMostTasks + 1>;
  struct Byte {
    graph::TaskId writer = 0;
    Tasks readers;      // since the last write
    Tasks all_writers;  // ever
    Tasks all_readers;
  };

  [[nodiscard]] Byte& byte_at(MemorySpace space, std::uint64_t address);

  graph::TensorMap& map_;
  graph::TaskId task_ = 0;
  graph::TaskId oldest_live_ = 1;
  /// By space (0 or 1) and address: programs use small addresses.
  std::array<std::vector<Byte>, 2> bytes_;
  std::vector<Tasks> direct_ = std::vector<Tasks>(kMostTasks + 1);
  std::vector<Tasks> before_ = std::vector<Tasks>(kMostTasks + 1);  // all that must complete before it
  Tasks live_;
  std::uint64_t missing_ = 0;
  std::uint64_t unjustified_ = 0;
  std::uint64_t found_ = 0;
};

}  // namespace baton::test
