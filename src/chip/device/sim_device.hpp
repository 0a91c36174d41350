// Simulated cores, which the scheduler of this host feeds.
#pragma once

#include <memory>

#include "chip/cores/local_memory.hpp"
#include "chip/cores/sim/sim_cores.hpp"
#include "chip/device/device.hpp"

namespace baton::chip {

class SimDevice final : public Device {
 public:
  /// `memory`: what kernels may touch; outlives the device.
  SimDevice(const Profile& profile, SimOptions cores, const SchedulerOptions& tasks, LocalMemory& memory);
  SimDevice(const SimDevice&) = delete;
  SimDevice& operator=(const SimDevice&) = delete;
  ~SimDevice() override;

  [[nodiscard]] int clusters() const noexcept override { return cores_->cluster_count(); }
  void run(CapturedTasks& graph) override { scheduler_.run(graph); }
  [[nodiscard]] Scheduler* stream() noexcept override { return &scheduler_; }
  [[nodiscard]] bool has_windows() const noexcept override { return false; }
  [[nodiscard]] std::unique_ptr<DeviceWindow> open_window(WindowGroup& /*group*/, std::size_t /*bytes*/) override {
    return nullptr;
  }
  [[nodiscard]] bool has_completion_queues() const noexcept override { return true; }
  [[nodiscard]] void* dma_workspace() const noexcept override { return cores_->dma_workspace(); }
  void profile(Profiler* profiler) override { scheduler_.profile(profiler); }
  [[nodiscard]] std::vector<CoreProfile> core_profiles(std::uint64_t elapsed_ticks) const override {
    return scheduler_.core_profiles(elapsed_ticks);
  }

 private:
  Scheduler scheduler_;
  std::unique_ptr<SimCores> cores_;
};

}  // namespace baton::chip
