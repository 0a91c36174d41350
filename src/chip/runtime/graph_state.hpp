// What is behind a Graph: from submissions to tasks with edges.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <baton/graph.hpp>

#include "chip/cores/local_memory.hpp"
#include "chip/cores/profile.hpp"
#include "chip/device/device.hpp"
#include "chip/graph/output_heap.hpp"
#include "chip/graph/tensor_map.hpp"
#include "chip/runtime/batch.hpp"
#include "chip/runtime/captured_state.hpp"
#include "chip/runtime/dump.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {

/// The parts of a chip that graphs use.
struct GraphParts {
  Device* device;
  graph::TensorMap& map;
  graph::OutputHeap& heap;
  LocalMemory& memory;
  const ChipState* chip;
  std::uint32_t event_rank;
  Dumps& dumps;
  Profiler* profiler = nullptr;  // null unless tasks are profiled
  Batch* batch = nullptr;        // of a device that takes whole graphs
};

/// What a submission asks for, before it is a task.
struct Submission {
  BatonKernelFunction entry = nullptr;
  const char* name = "";
  Cores cores = Cores::none;
  const ClusterTask* cluster = nullptr;
  std::span<const Argument> arguments;
  const TaskOptions& options;
  /// A task without a kernel that waits for `*counter >= expected`.
  const std::int32_t* counter = nullptr;
  std::int32_t expected = 0;
  Place where;
};

/// For the thread of the orchestration.
class GraphState {
 public:
  /// Submits to the scheduler, or to `capture`.
  GraphState(const GraphParts& parts, Edges edges, CapturedState* capture = nullptr)
      : parts_(parts), scheduler_(parts.device->stream()), edges_(edges), capture_(capture) {}

  TaskId submit(const Submission& submission);
  TaskId dump(const Tensor& tensor, std::string_view name, std::span<const TaskId> after, const Place& where);
  [[nodiscard]] bool dumps() const noexcept { return parts_.dumps.wanted(); }
  /// Of the dump that is submitted next.
  [[nodiscard]] std::uint64_t next_dump() noexcept { return ++last_dump_; }
  void submit_graph(CapturedState& graph, std::span<const Binding> bindings, const Place& where);
  [[nodiscard]] bool full() const noexcept { return !collects() && scheduler_->full(); }
  [[nodiscard]] Tensor submit_notification_wait(const std::int32_t* signal, std::int32_t expected, const Place& where);
  [[nodiscard]] Tensor output(DType dtype, std::span<const std::int64_t> shape, const Place& where);
  [[nodiscard]] Tensor filled_output(DType dtype, std::span<const std::int64_t> shape, const void* value,
                                     const Place& where);
  /// `output`, which no task has used yet, gets `value` in every element.
  void fill(const Tensor& output, const ElementBytes& value);
  void keep(const Tensor& output) { parts_.heap.keep(output.buffer()); }

  [[nodiscard]] std::uint64_t open_scope(Edges edges, const Place& where);
  void close_scope(std::uint64_t scope, Edges edges_after);
  [[nodiscard]] Edges edges() const noexcept { return edges_; }
  void set_edges(Edges edges) noexcept { edges_ = edges; }

  void get_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, void* into);
  void set_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, const void* from);
  void wait(TaskId task);
  [[nodiscard]] int clusters() const noexcept { return parts_.device->clusters(); }
  [[nodiscard]] void* dma_workspace() const noexcept { return parts_.device->dma_workspace(); }

 private:
  void check(const Submission& submission) const;
  void check_predicate(const Submission& submission) const;
  /// What few tasks have.
  [[nodiscard]] TaskExtra* extra_of(const Submission& submission);
  void fill(Task& task, const Submission& submission);
  static void make_empty(Task& task);
  /// The same for the call of a core, with less that is written. Throws what link() would.
  void fill(OwnCore& own, const Submission& submission);
  template <class Live, class Depend>
  void link(TaskId id, const Submission& submission, Live&& live, Depend&& depend);
  /// `task` waits for `earlier`, because both use the tensor; null: because somebody said so.
  void trace_edge(TaskId task, TaskId earlier, const Tensor* because, const Place& where);
  TaskId stream(const Submission& submission);
  TaskId run_in_place(OwnCore& own, const Submission& submission);
  TaskId collect(const Submission& submission);
  void remember(const Task& task, const Submission& submission);
  [[nodiscard]] TaskId newest() const noexcept;
  /// Whether tasks are collected, for a captured graph or for a batch, and do not run yet.
  [[nodiscard]] bool collects() const noexcept { return capture_ != nullptr || parts_.batch != nullptr; }
  [[nodiscard]] CapturedTasks& collected() noexcept {
    return capture_ != nullptr ? capture_->tasks() : parts_.batch->tasks();
  }
  /// Tasks up to this number are complete; those that are collected count on from there.
  [[nodiscard]] TaskId collected_from() const noexcept { return capture_ != nullptr ? 0 : parts_.batch->complete(); }
  /// Of a device that does not run host code: waits for what is collected.
  void dump_now(const Tensor& tensor, const std::string& name);
  /// Runs what is collected for a device.
  void run_batch();
  [[nodiscard]] Arena& arena() noexcept;
  [[nodiscard]] Tensor element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position) const;
  /// Before the program touches an element, for `baton check`.
  void note_host_access(const Tensor& element, CheckedUse use, const char* operation) const;
  void wait_for(const Tensor& tensor, graph::Use access, const char* action);
  void forget_complete();

  GraphParts parts_;
  Scheduler* scheduler_;
  Edges edges_;
  CapturedState* capture_;
  std::uint64_t last_token_ = 0;
  std::uint64_t last_dump_ = 0;
  /// Whether the task that is being submitted is in the map.
  bool task_is_recorded_ = false;
};

}  // namespace baton::chip
