// Captured graphs: built once, run many times, without finding any edge again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <baton/export.hpp>
#include <baton/graph.hpp>
#include <baton/tensor.hpp>

namespace baton {

namespace chip {
class CapturedState;
}

/// Made by Chip::capture() and run by the same chip. Owns the outputs that the orchestration made; the memory of other
/// tensors stays alive as long as the graph runs.
class BATON_API CapturedGraph {
 public:
  explicit CapturedGraph(std::unique_ptr<chip::CapturedState> state) noexcept;
  CapturedGraph(CapturedGraph&& other) noexcept;
  CapturedGraph& operator=(CapturedGraph&& other) noexcept;
  ~CapturedGraph();

  [[nodiscard]] std::uint64_t task_count() const noexcept;
  [[nodiscard]] std::uint64_t edge_count() const noexcept;

  /// Changes a scalar of a task for the runs that follow: number `scalar`, from 0, of those that the task got.
  template <class Scalar>
  void set_scalar(TaskId task, std::size_t scalar, Scalar value) {
    set_scalar_slot(task, scalar, scalar_slot(value));
  }

  /// Tasks and edges in the language of Graphviz: `dot -Tsvg` draws it.
  [[nodiscard]] std::string drawing() const;

 private:
  friend class Chip;
  friend class Graph;
  void set_scalar_slot(TaskId task, std::size_t scalar, std::int64_t slot);

  std::unique_ptr<chip::CapturedState> state_;
};

}  // namespace baton
