// What executes the tasks of a chip: the one seam below Chip, Graph and captured graphs.
//
// Above it edges are inferred, outputs placed and scopes kept, once for all devices. Below it tasks are run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <baton/task_profile.hpp>

#include "chip/device/chip_memory.hpp"
#include "chip/device/device_window.hpp"
#include "chip/sched/scheduler.hpp"

namespace baton::chip {

/// Used by one thread at a time.
class Device {
 public:
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// What its tasks work on.
  [[nodiscard]] const std::shared_ptr<ChipMemory>& memory() const noexcept { return memory_; }
  /// Clusters of cores: what can run at the same time.
  [[nodiscard]] virtual int clusters() const noexcept = 0;

  /// Runs all tasks of a graph that is closed. Throws the first failure, with the task, its kernel, the place of its
  /// submission and what did not run because of it; the device can be used again then.
  virtual void run(CapturedTasks& graph) = 0;

  /// Who takes tasks while the orchestration still submits; the same for the life of the device. Null: it takes whole
  /// graphs, and maybe their tasks one by one.
  [[nodiscard]] virtual Scheduler* stream() noexcept = 0;

  /// Of a device without stream(): the tasks of `graph` come now, and the first one is there. Whether it takes them
  /// while the orchestration still submits; otherwise the graph has to be run().
  [[nodiscard]] virtual bool begin_tasks(CapturedTasks& /*graph*/) { return false; }
  /// The newest task of `graph` runs when those that it depends on have ended. Throws like run(), also what went wrong
  /// before: then nothing of the graph is under way.
  virtual void take_task(CapturedTasks& /*graph*/) {}
  /// Returns when all tasks have ended. Throws like run().
  virtual void end_tasks(CapturedTasks& /*graph*/) {}

  /// Whether windows lie in its memory; if not, they are those of the host.
  [[nodiscard]] virtual bool has_windows() const noexcept = 0;
  /// Of a device that has them. Collective over the group; on any thread.
  [[nodiscard]] virtual std::unique_ptr<DeviceWindow> open_window(WindowGroup& group, std::size_t bytes) = 0;

  /// Whether its kernels may be given completion queues (TaskOptions::completion_queue).
  [[nodiscard]] virtual bool has_completion_queues() const noexcept = 0;
  /// For asynchronous copies of kernels; null: there are none.
  [[nodiscard]] virtual void* dma_workspace() const noexcept = 0;
  /// Whom it tells of its tasks from now on; null: nobody. Those that cannot tell do not. While nothing runs.
  virtual void profile(Profiler* profiler) = 0;
  /// What each core did so far; while nothing runs.
  [[nodiscard]] virtual std::vector<CoreProfile> core_profiles(std::uint64_t elapsed_ticks) const = 0;

 protected:
  explicit Device(std::shared_ptr<ChipMemory> memory) noexcept : memory_(std::move(memory)) {}

 private:
  std::shared_ptr<ChipMemory> memory_;
};

}  // namespace baton::chip
