// What is behind a Chip: its memory, its cores and the parts that turn submissions into tasks.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <baton/chip.hpp>

#include "chip/cores/sim/sim_cores.hpp"
#include "chip/runtime/captured_state.hpp"
#include "chip/runtime/graph_state.hpp"
#include "chip/runtime/known_memory.hpp"
#include "chip/runtime/pages.hpp"

namespace baton::chip {

class ChipState {
 public:
  /// `rank`: of the chip among its peers; nothing if it has none.
  ChipState(const ChipOptions& chip, std::unique_ptr<LocalMemory> memory, std::optional<int> rank);
  ChipState(const ChipState&) = delete;
  ChipState& operator=(const ChipState&) = delete;
  ~ChipState();

  [[nodiscard]] Tensor alloc(DType dtype, std::span<const std::int64_t> shape, std::string_view name);
  void free(const Tensor& tensor);
  void add_memory(const Buffer& memory, std::string_view name);
  void remove(const Tensor& external);
  void run(const std::function<void(Graph&)>& orchestration, const GraphOptions& options, const Place& where);
  [[nodiscard]] CapturedGraph capture(const std::function<void(Graph&)>& orchestration, const GraphOptions& options,
                                      const Place& where);
  void run(CapturedState& graph, std::span<const Binding> bindings);
  [[nodiscard]] TaskProfile task_profile() const;
  [[nodiscard]] int clusters() const noexcept { return cores_->cluster_count(); }

 private:
  /// Memory that kernels may use: ours, or somebody else's.
  struct Known {
    Pages pages;  // none of somebody else's
    graph::AllocationId allocation = 0;
  };

  std::shared_ptr<LocalMemory> memory_;  // captured graphs have a share
  graph::TensorMap map_{[this](const graph::View& view) { require_known(*memory_, view); }};
  Pages heap_pages_;
  graph::OutputHeap heap_;
  std::map<std::uint64_t, Known> known_;  // by address
  std::unique_ptr<Profiler> profiler_;    // null unless tasks are profiled
  Scheduler scheduler_;
  std::unique_ptr<SimCores> cores_;
};

}  // namespace baton::chip
