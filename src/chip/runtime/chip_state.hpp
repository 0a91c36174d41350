// What is behind a Chip: its device, its memory and the parts that turn submissions into tasks.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <baton/chip.hpp>

#include "chip/completion/chip_window.hpp"
#include "chip/cores/local_memory.hpp"
#include "chip/device/device.hpp"
#include "chip/runtime/captured_state.hpp"
#include "chip/runtime/closing_windows.hpp"
#include "chip/runtime/graph_state.hpp"
#include "chip/runtime/known_memory.hpp"

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
  void add_memory(const Buffer& memory, std::string_view name, const MemoryPlace& place);
  void remove(const Tensor& external);
  /// Any thread, also beside a run.
  [[nodiscard]] std::shared_ptr<ChipWindowState> open_window(const Domain& domain, std::string_view name,
                                                             std::size_t bytes);
  void run(const std::function<void(Graph&)>& orchestration, const GraphOptions& options, const Place& where);
  [[nodiscard]] CapturedGraph capture(const std::function<void(Graph&)>& orchestration, const GraphOptions& options,
                                      const Place& where);
  void run(CapturedState& graph, std::span<const Binding> bindings);
  [[nodiscard]] TaskProfile task_profile() const;
  [[nodiscard]] int clusters() const noexcept { return device_->clusters(); }
  [[nodiscard]] const std::string& platform() const noexcept { return platform_; }
  /// Before the program touches the bytes of a tensor without gaps, for `baton check`.
  void note_host_access(const Tensor& tensor, CheckedUse use, const char* operation) const;
  [[nodiscard]] ChipMemory& bytes() const noexcept { return *device_->memory(); }

 private:
  /// Whether somebody asked for it: not only for a trace.
  [[nodiscard]] bool is_profiled() const noexcept {
    return profiler_ != nullptr && profiler_->mode() != ProfileMode::off;
  }
  void profile();
  /// What the run that begins is profiled by; null: nothing.
  [[nodiscard]] Profiler* profiler_of_run();
  /// The same for a device that takes whole graphs.
  void run_in_batches(const std::function<void(Graph&)>& orchestration, const GraphOptions& options,
                      const Place& where);

  /// Memory that kernels may use: ours, or somebody else's.
  struct Known {
    OwnedBuffer owned;  // none of somebody else's
    graph::AllocationId allocation = 0;
  };

  std::string platform_;
  std::shared_ptr<LocalMemory> memory_;  // captured graphs have a share
  graph::TensorMap map_{[this](const graph::View& view) { require_known(*memory_, view); }};
  std::unique_ptr<Profiler> profiler_;  // null unless tasks are profiled, or traced
  bool is_rank_;
  std::uint32_t event_rank_;
  Dumps dumps_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<ClosingWindows> closing_ = std::make_shared<ClosingWindows>();  // windows have a share
  OwnedBuffer heap_bytes_;
  graph::OutputHeap heap_;
  std::map<std::uint64_t, Known> known_;  // by address
  Batch batch_;                           // of a device that takes whole graphs
};

}  // namespace baton::chip
