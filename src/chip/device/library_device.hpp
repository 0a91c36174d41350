// A device behind libbaton_<platform>.so.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "chip/cores/local_memory.hpp"
#include "chip/cores/window_group.hpp"
#include "chip/device/device.hpp"
#include "chip/device/noted_tasks.hpp"
#include "chip/device/platform_library.hpp"

namespace baton::chip {

/// A device of a library, until the last one lets go: of it, of its memory, of a graph that it has taken.
class OpenDevice {
 public:
  /// Numbers as in ChipOptions.
  struct Wanted {
    int device = 0;
    int device_count = 0;
    int clusters = 0;
  };
  OpenDevice(const std::string& platform, const Wanted& wanted);
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  ~OpenDevice() { static_cast<void>(library_.close(device_)); }

  [[nodiscard]] const platform::PlatformLibrary& library() const noexcept { return library_; }
  [[nodiscard]] BatonDevice* get() const noexcept { return device_; }

  // The members of windows that this device reaches. Any thread.
  void add(const WindowGroup& group);
  void remove(const WindowGroup& group) noexcept;
  /// One that has failed, and why; empty: none.
  [[nodiscard]] std::string failed_member() const;

 private:
  platform::PlatformLibrary library_;
  BatonDevice* device_ = nullptr;
  mutable std::mutex mutex_;
  std::set<const WindowGroup*> groups_;  // guarded by mutex_
};

struct RunLimits {
  std::chrono::nanoseconds wait;  // of a wait for a signal
  std::chrono::nanoseconds task;  // 0: none
};

class LibraryDevice final : public Device {
 public:
  /// `known`: what kernels may touch; outlives the device.
  LibraryDevice(const std::shared_ptr<OpenDevice>& open, const RunLimits& limits, const LocalMemory& known);

  [[nodiscard]] int clusters() const noexcept override { return static_cast<int>(description_.clusters); }
  void run(CapturedTasks& graph) override;
  [[nodiscard]] Scheduler* stream() noexcept override { return nullptr; }
  [[nodiscard]] bool begin_tasks(CapturedTasks& graph) override;
  void take_task(CapturedTasks& graph) override;
  void end_tasks(CapturedTasks& graph) override;
  [[nodiscard]] bool has_windows() const noexcept override {
    return !memory()->place().is_host() && static_cast<bool>(open_->library().window_open);
  }
  [[nodiscard]] std::unique_ptr<DeviceWindow> open_window(WindowGroup& group, std::size_t bytes) override;
  [[nodiscard]] bool has_completion_queues() const noexcept override {
    return (description_.features & BATON_FEATURE_QUEUES) != 0;
  }
  [[nodiscard]] void* dma_workspace() const noexcept override { return nullptr; }
  void profile(Profiler* profiler) override;
  [[nodiscard]] std::vector<CoreProfile> core_profiles(std::uint64_t elapsed_ticks) const override {
    return noted_.core_profiles(elapsed_ticks);
  }

 private:
  [[nodiscard]] BatonDeviceKernel* kernel_for(BatonKernelFunction entry, const char* name);
  [[nodiscard]] BatonDeviceKernel* load_kernel(BatonKernelFunction entry, const char* name) const;
  [[nodiscard]] BatonDeviceTask task_of(const Task& task, std::vector<BatonDeviceArgument>& arguments);
  [[nodiscard]] std::shared_ptr<void> make(CapturedTasks& graph);
  /// For tasks from now on. `extents`, which it fills, lives as long as what is returned.
  [[nodiscard]] BatonRunOptions run_options(std::vector<BatonDeviceExtent>& extents);
  /// Whether the device takes tasks; what kernels may touch is what is known now.
  [[nodiscard]] bool begin_stream();
  /// Throws what is handled now, which is about `failed`, a task of a graph that is closed.
  [[noreturn]] void raise_about(CapturedTasks& graph, std::uint32_t failed, const Error& error) const;
  /// Whom kernels may wait for in vain, and why; empty: nobody.
  [[nodiscard]] std::string lost_peer() const;
  /// The error that is handled now; a wait that ended because of a rank that is lost names it.
  [[nodiscard]] std::exception_ptr with_lost_peer(const Error& error) const;
  // Of BatonRunOptions.
  static int has_lost_peers(void* self) noexcept;
  static void name_address(void* self, std::uint64_t address, char* text, std::size_t bytes) noexcept;
  static void note_task(void* self, std::uint32_t task, std::uint32_t progress) noexcept;
  static void note_block(void* self, const BatonBlockTimes* times);

  std::shared_ptr<OpenDevice> open_;
  BatonDeviceDescription description_;
  RunLimits limits_;
  const LocalMemory& known_;
  std::map<BatonKernelFunction, BatonDeviceKernel*> kernels_;
  NotedTasks noted_;
  BatonKernelFunction last_function_ = nullptr;
  BatonDeviceKernel* last_kernel_ = nullptr;
  std::uint64_t known_version_ = 0;  // when the tasks that come were begun
  std::vector<BatonDeviceArgument> arguments_;
  std::vector<std::uint32_t> predecessors_;
};

}  // namespace baton::chip
