// The cores of one simulated chip: fibers, each statically assigned to one of a few threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "chip/cores/global_memory.hpp"
#include "chip/cores/profile.hpp"
#include "chip/cores/sim/dma_engine.hpp"
#include "chip/cores/sim/kernel_call.hpp"
#include "chip/cores/sim/sim_core.hpp"

namespace baton::chip {

struct SimOptions {
  /// 0: as many as the profile has.
  int clusters = 0;
  /// Threads; ignored if the chip is made on a fiber, whose thread it then shares. 0: as many as there are processors.
  int workers = 0;
  std::size_t stack_bytes = 256 * 1024;
  /// Order of cores and of DMA follow from it (one worker).
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// `memory` outlives it. Made and destroyed on the same thread or fiber.
class SimCores {
 public:
  SimCores(const Profile& profile, const SimOptions& options, GlobalMemory& memory);
  SimCores(const SimCores&) = delete;
  SimCores& operator=(const SimCores&) = delete;
  /// Waits for the kernels that run; those not yet begun are not run.
  ~SimCores();

  [[nodiscard]] int cluster_count() const noexcept { return clusters_; }
  [[nodiscard]] int core_count() const noexcept { return static_cast<int>(cores_.size()); }
  [[nodiscard]] const CorePlace& place(int core) const {
    return cores_.at(static_cast<std::size_t>(core))->core.place();
  }
  /// The cube core of a cluster, or one of its two vector cores.
  [[nodiscard]] int cube(int cluster) const { return cluster * kCoresPerCluster; }
  [[nodiscard]] int vector(int cluster, int which) const { return cluster * kCoresPerCluster + 1 + which; }

  /// Gives `call` to a core, which runs its calls in order. Any thread; never blocks.
  void post(int core, KernelCall& call);

  /// Returns when `call` has finished; throws what went wrong in it. Also on a fiber.
  void wait(KernelCall& call);

 private:
  /// A core and the calls it has to run.
  struct Seat {
    Seat(const CorePlace& place, const Profile& profile, GlobalMemory& memory, DmaEngine& dma)
        : core(place, profile, memory, dma) {}
    SimCore core;
    std::mutex mutex;
    std::deque<KernelCall*> calls;  // guarded by mutex
    std::atomic<std::uint64_t> waiting{0};
  };

  void add_fibers(FunctionRef<void(std::function<void()>)> add);
  void work(Seat& seat);
  void ring();

  GlobalMemory& memory_;
  ParkingPlace place_;
  int clusters_;
  DmaEngine dma_;
  std::vector<std::unique_ptr<Seat>> cores_;
  std::atomic<bool> stop_{false};
  std::atomic<int> running_fibers_{0};
  std::thread thread_;  // not joinable if the fibers are on the maker's thread
};

}  // namespace baton::chip
