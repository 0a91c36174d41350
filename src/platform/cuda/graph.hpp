// A graph that a GPU has taken: the packets of its cores, in its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <baton/platform.h>

#include <pto/target/cuda/run.hpp>

#include "platform/cuda/block_times.hpp"
#include "platform/cuda/gpu.hpp"
#include "platform/cuda/placement.hpp"
#include "platform/cuda/program.hpp"

struct ChipTensor;

namespace baton::cuda {

class Graph {
 public:
  Graph(Gpu& gpu, std::span<const BatonDeviceTask> tasks, const std::uint64_t* first_predecessor,
        const std::uint32_t* predecessors);

  void set(std::size_t task, const BatonDeviceTask& changed);
  /// Throws what went wrong; `failed_task` as in baton_graph_run.
  void run(const BatonRunOptions& options, std::uint32_t& failed_task);
  [[nodiscard]] const Gpu& gpu() const noexcept { return gpu_; }

 private:
  /// A core of a task of a cluster.
  struct ClusterPart {
    std::uint32_t number;
    const LoadedKernel* kernel;
  };
  /// What the packets of a task have in common.
  struct Description {
    const LoadedKernel* kernel = nullptr;  // of a task of a cluster the first
    std::vector<ClusterPart> parts;        // of a task of a cluster: those with a kernel; otherwise none
    std::uint32_t flags = 0;
    bool is_after = false;  // it has predecessors
    std::uint32_t blocks = 1;
    Condition condition{};
    std::vector<BatonDeviceArgument> tensors;
    std::vector<std::int64_t> scalars;
    /// How many cores one of its blocks takes.
    [[nodiscard]] std::uint32_t cores_of_block() const noexcept {
      return parts.empty() ? 1 : static_cast<std::uint32_t>(parts.size());
    }
    [[nodiscard]] std::size_t slot_count() const noexcept { return tensors.size() + scalars.size(); }
  };

  /// Which block of which task, on which core of a cluster if it is a task of one.
  void fill(Packet& packet, const Unit& unit) const;
  [[nodiscard]] static Description described(const BatonDeviceTask& task);
  void upload();
  void write_extents(const BatonRunOptions& options);
  /// By cores that stay, until it has ended or failed.
  void command(Residence& cores, const BatonRunOptions& options);
  /// By cores that run this graph and leave.
  void launch();
  void wait(const BatonRunOptions& options);
  /// Whether the times of tasks are wanted, from now on.
  void keep_times(bool wanted);
  /// After a run, whatever became of it.
  void tell_times(const BatonRunOptions& options);
  [[noreturn]] void raise(const BatonRunOptions& options, std::uint32_t& failed_task);

  Gpu& gpu_;
  std::shared_ptr<const Program> program_;
  std::vector<Description> tasks_;
  Placement placement_;
  bool uses_cube_ = false;
  bool uploaded_ = false;
  std::uint32_t core_count_ = 0;  // of those that have something to do
  std::uint32_t runs_ = 0;
  Run run_{};
  // For cores that stay: the same in memory of the GPU, what was told of it, and the number of that; 0: none.
  GpuMemory description_of_run_;
  Run told_{};
  std::uint32_t version_ = 0;
  GpuMemory description_;
  GpuMemory arrivals_;
  GpuMemory extents_;
  GpuMemory cube_buffers_;
  std::vector<std::uint32_t> first_cluster_;  // of each task; empty if none is one of a cluster
  GpuMemory clusters_;
  std::vector<Extent> extents_there_;
  // While the times of tasks are wanted: by packet.
  bool is_timed_ = false;
  std::vector<TimedBlock> units_;
  GpuMemory times_;
};

}  // namespace baton::cuda
