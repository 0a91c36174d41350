// Tasks that run on a GPU while others are still submitted.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <baton/platform.h>

#include "platform/cuda/assignment.hpp"
#include "platform/cuda/block_times.hpp"
#include "platform/cuda/residence.hpp"

namespace baton::cuda {

/// A task goes to a core when it is submitted. Tasks have numbers from 0 on, until wait() has returned.
class TaskStream {
 public:
  TaskStream(Gpu& gpu, Residence& cores);
  TaskStream(const TaskStream&) = delete;
  TaskStream& operator=(const TaskStream&) = delete;

  /// The options of tasks from now on; what they point to, but for the extents, lives until wait() has returned.
  void begin(const BatonRunOptions& options);
  /// `predecessors`: numbers of earlier tasks. Waits while the core has enough to do. Throws what went wrong, also in
  /// earlier tasks, with the number of the one that failed in `failed_task`; all is forgotten then.
  void submit(const BatonDeviceTask& task, std::span<const std::uint32_t> predecessors, std::uint32_t& failed_task);
  /// Until all tasks have ended. Throws like submit().
  void wait(std::uint32_t& failed_task);

 private:
  void start(const LoadedKernel* kernel, bool uses_cube, std::uint32_t& failed_task);
  void describe();
  void wait_for_all(std::uint32_t& failed_task);
  template <class Holds>
  void wait_until(Holds&& holds, std::uint32_t& failed_task);
  void forget() noexcept;

  void write(std::size_t core, const BatonDeviceTask& task, std::uint32_t block, std::span<const Awaited> awaited,
             std::uint32_t& failed_task);
  /// Memory that the core may read until it has ended the command that it is given next.
  /// Whether the times of tasks are wanted.
  [[nodiscard]] bool is_timed() const noexcept { return options_.note_block != nullptr; }
  /// A task of clusters: when all before it have ended, as a graph, until it has ended.
  void run_alone(const BatonDeviceTask& task, std::uint32_t& failed_task);
  /// Room for the times of `count` blocks of the task that comes, from `begin` on, on cores from `first` on.
  void keep_places(std::size_t first, std::uint32_t count, std::uint32_t begin, std::uint32_t& failed_task);
  /// Of all tasks since the last time; none is under way.
  void tell_times();
  [[nodiscard]] std::byte* lend(std::size_t core, std::size_t bytes, std::uint32_t& failed_task);

  Gpu& gpu_;
  Residence& cores_;
  std::size_t core_count_;
  std::optional<SharedGpu::Running> running_;  // while tasks are under way
  std::shared_ptr<const Program> program_;
  Assignment assignment_;
  std::vector<const LoadedKernel*> kernels_;  // of tasks
  std::uint64_t resets_ = 0;                  // of the cores, when the assignment counted their commands
  const LoadedKernel* last_kernel_ = nullptr;
  std::uint64_t last_entry_ = 0;

  BatonRunOptions options_{};
  std::vector<Extent> extents_;
  bool described_ = false;
  Run run_{};
  std::uint32_t version_ = 0;
  GpuMemory description_;
  GpuMemory extents_there_;
  std::vector<GpuMemory> retired_;  // that tasks under way may read
  GpuMemory cube_buffers_;

  // While times are wanted. Of each core kTimesOfCore: memory of the host, which cores write when others were told.
  std::unique_ptr<PinnedMemory> times_;
  std::vector<TimedBlock> timed_;
  std::vector<std::uint32_t> untold_;  // of each core: how many of those

  /// Parts of a memory of the host for what does not fit into a ring, in the order in which they are lent.
  struct Lent {
    std::size_t begin;
    std::size_t end;
    // Until this core has ended this many.
    std::size_t core;
    std::uint64_t commands;
  };
  std::unique_ptr<PinnedMemory> lendable_;
  std::size_t lend_at_ = 0;
  std::deque<Lent> lent_;
};

}  // namespace baton::cuda
