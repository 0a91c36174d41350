// What is behind a Graph: from submissions to tasks with edges.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <baton/graph.hpp>

#include "chip/cores/local_memory.hpp"
#include "chip/cores/profile.hpp"
#include "chip/graph/output_heap.hpp"
#include "chip/graph/tensor_map.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {

/// The parts of a chip that graphs use.
struct GraphParts {
  Scheduler& scheduler;
  graph::TensorMap& map;
  graph::OutputHeap& heap;
  LocalMemory& memory;
  int clusters;
};

enum class EdgesFrom : std::uint8_t { tensors, options };

/// What a submission asks for, before it is a task.
struct Submission {
  BatonKernelFunction entry = nullptr;
  const char* name = "";
  Lane lane = Lane::none;
  const ClusterTask* cluster = nullptr;
  std::span<const Argument> arguments;
  const TaskOptions& options;
  Place where;
};

/// For the thread of the orchestration.
class GraphState {
 public:
  explicit GraphState(const GraphParts& parts) : parts_(parts) {}

  TaskId submit(const Submission& submission);
  [[nodiscard]] Tensor submit_notification_wait(const std::int32_t* signal, std::int32_t expected, const Place& where);
  [[nodiscard]] Tensor output(DType dtype, std::span<const std::int64_t> shape, const Place& where);
  void keep(const Tensor& output) { parts_.heap.keep(output.buffer()); }

  [[nodiscard]] std::uint64_t open_scope(EdgesFrom edges, const Place& where);
  void close_scope(std::uint64_t scope, EdgesFrom edges_after);
  [[nodiscard]] EdgesFrom edges() const noexcept { return edges_; }

  void get_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, void* into);
  void set_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, const void* from);
  void wait(TaskId task) { parts_.scheduler.wait(task); }
  [[nodiscard]] int clusters() const noexcept { return parts_.clusters; }

 private:
  void check(const Submission& submission) const;
  void fill(Task& task, const Submission& submission);
  void link(Task& task, const Submission& submission);
  [[nodiscard]] Tensor element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position) const;
  void wait_for(const Tensor& tensor, graph::Access access);
  void forget_complete();

  GraphParts parts_;
  EdgesFrom edges_ = EdgesFrom::tensors;
  std::uint64_t last_token_ = 0;
};

}  // namespace baton::chip
