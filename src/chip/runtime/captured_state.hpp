// What is behind a CapturedGraph: its tasks, their memory, and which of it can be exchanged.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tensor.h>
#include <baton/captured_graph.hpp>

#include "chip/cores/local_memory.hpp"
#include "chip/device/chip_memory.hpp"
#include "chip/graph/output_heap.hpp"
#include "chip/graph/tensor_map.hpp"
#include "chip/runtime/fill.hpp"
#include "chip/sched/captured_tasks.hpp"

namespace baton::chip {

class ChipState;
class GraphState;

class CapturedState {
 public:
  /// Of `chip`, whose memory it shares.
  CapturedState(const ChipState& chip, std::shared_ptr<LocalMemory> memory, OwnedBuffer outputs);
  CapturedState(const CapturedState&) = delete;
  CapturedState& operator=(const CapturedState&) = delete;
  ~CapturedState();

  // While the orchestration runs.
  [[nodiscard]] CapturedTasks& tasks() noexcept { return tasks_; }
  [[nodiscard]] const CapturedTasks& tasks() const noexcept { return tasks_; }
  [[nodiscard]] graph::TensorMap& map() noexcept { return *map_; }
  [[nodiscard]] graph::OutputHeap& heap() noexcept { return heap_; }
  /// `descriptor`, in the memory of the tasks, tells a kernel where `tensor` is.
  void add_descriptor(const Tensor& tensor, Access access, ChipTensor& descriptor);
  /// How the newest task was submitted: what its tensors are used for, in their order, and how its edges are found.
  void add_submission(std::span<const Argument> arguments, Edges edges);
  void add_output(const Buffer& output) { outputs_.push_back(output); }
  /// `output` has `value` in every element when a run begins.
  void fill_before_runs(const Tensor& output, const ElementBytes& value) { fills_.push_back({output, value}); }
  /// The orchestration is over.
  void close();

  // Then.
  [[nodiscard]] const ChipState* owner() const noexcept { return owner_; }
  /// The next run uses the memory it was captured with, but for `bindings`. Throws Error: invalid_argument if a binding
  /// does not fit, or if two tensors that were apart would share memory, since no edge keeps their tasks in order.
  void bind(std::span<const Binding> bindings);
  /// The same tasks in another graph. Uses the memory it was captured with, but for `bindings` and its outputs.
  void submit_to(GraphState& graph, std::span<const Binding> bindings, const Place& where);
  /// After bind(): outputs that begin with a value have it.
  void fill_outputs(ChipMemory& memory) const;
  void set_scalar(TaskId task, std::size_t scalar, std::int64_t slot);
  [[nodiscard]] std::string drawing() const;

 private:
  /// Memory that tasks use: apart from all others.
  struct Piece {
    std::uint64_t begin;
    std::uint64_t end;
    bool written;
    std::vector<ChipTensor*> descriptors;
    /// How far from its captured place it is now.
    std::uint64_t moved_by = 0;
    /// The same for the run that is being bound.
    std::uint64_t move_by = 0;
  };

  struct Fill {
    Tensor output;
    ElementBytes value;
  };

  /// What is elsewhere when the tasks are submitted to another graph.
  struct Move {
    Buffer from;
    Buffer to;
  };
  /// How a task was submitted.
  struct Submitted {
    std::size_t first_access;  // in accesses_
    Edges edges;
  };

  [[nodiscard]] std::vector<Move> moves_for(GraphState& graph, std::span<const Binding> bindings, const Place& where);
  [[nodiscard]] static Tensor moved(const ChipTensor& descriptor, std::span<const Move> moves);
  [[nodiscard]] Piece& piece_of(const Binding& binding);
  void check_room(const Binding& binding) const;
  void check_apart() const;

  const ChipState* owner_;
  std::shared_ptr<LocalMemory> memory_;
  OwnedBuffer heap_bytes_;
  graph::OutputHeap heap_;
  CapturedTasks tasks_;
  std::unique_ptr<graph::TensorMap> map_;  // until close()
  std::vector<Piece> pieces_;              // by address, once closed
  std::vector<Fill> fills_;
  std::vector<Buffer> outputs_;
  std::vector<Submitted> submitted_;  // one for each task
  std::vector<Access> accesses_;
};

}  // namespace baton::chip
