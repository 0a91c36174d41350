// The cores of one simulated chip: fibers, each statically assigned to one of a few threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <baton/options.hpp>

#include "base/fiber.hpp"
#include "chip/cores/event_log.hpp"
#include "chip/cores/global_memory.hpp"
#include "chip/cores/kernel_call.hpp"
#include "chip/cores/profile.hpp"
#include "chip/cores/seed.hpp"
#include "chip/cores/sim/dma_engine.hpp"
#include "chip/cores/sim/kernel_watch.hpp"
#include "chip/cores/sim/late_notifier.hpp"
#include "chip/cores/sim/sim_core.hpp"

namespace baton::chip {

struct SimOptions {
  /// 0: as many as the profile has.
  int clusters = 0;
  /// Threads; ignored if the chip is made on a fiber, whose thread it then shares. 0: as many as can run beside the
  /// other ranks of the job.
  int threads = 0;
  std::size_t stack_bytes = 256 * 1024;
  /// Which order a core keeps between its pipes. Default: BATON_PIPES.
  PipeOrder order = baton::options().pipes;
  /// What a chip leaves open follows from it: turns of cores between instructions, chunks and order of copies, when
  /// notifications arrive at other ranks. One worker then. Default: BATON_SEED.
  std::optional<std::uint64_t> seed = baton::options().seed;
  /// How long a kernel may run. 0: as long as it likes.
  std::chrono::nanoseconds kernel_timeout = baton::options().kernel_limit();
  /// Default: the one BATON_EVENTS asks for, or none. Outlives the chip.
  EventLog* events = EventLog::of_process();
  /// The life of a core, on its fiber, in place of running what post() gives it. Ends before the chip does.
  std::function<void(SimCore&)> serve = {};
  /// Further fibers: one, and one for each thread. They end before the chip does.
  std::function<void()> beside = {};
  std::function<void()> beside_on_each_thread = {};
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
  [[nodiscard]] const CorePosition& position(int core) const {
    return cores_.at(static_cast<std::size_t>(core))->core.position();
  }
  /// The cube core of a cluster, or one of its two vector cores.
  [[nodiscard]] int cube(int cluster) const { return cluster * kCoresPerCluster; }
  [[nodiscard]] int vector(int cluster, int which) const { return cluster * kCoresPerCluster + 1 + which; }

  /// One more vector core, without a fiber: for the submitter.
  [[nodiscard]] SimCore& own_core() noexcept { return own_core_; }

  /// What kernels get as the workspace of the DMA engine: any address but null says that the engine is there.
  [[nodiscard]] void* dma_workspace() noexcept { return &dma_; }

  /// Gives `call` to a core, which runs its calls in order. Any thread; never blocks.
  void post(int core, KernelCall& call);

  /// Returns when `call` has finished; throws what went wrong in it. Also on a fiber. At its deadline, which is twice
  /// that of any wait in a kernel unless given, throws wait_timeout; the call is then still in use.
  void wait(KernelCall& call);
  void wait(KernelCall& call, std::chrono::nanoseconds timeout);

 private:
  /// A core and the calls it has to run.
  struct PostedCore {
    PostedCore(const CorePosition& position, const Profile& profile, const CoreSurroundings& around)
        : core(position, profile, around) {}
    SimCore core;
    std::mutex mutex;
    std::deque<KernelCall*> calls;  // guarded by mutex
    std::atomic<std::uint64_t> waiting{0};
  };

  /// Calls `add` with the body of each fiber and the number of its thread.
  void add_fibers(const SimOptions& options, int threads, FunctionRef<void(std::function<void()>, int)> add);
  [[nodiscard]] CoreSurroundings surroundings(const SimOptions& options);
  void start(const SimOptions& options);
  void watch_kernels(std::chrono::nanoseconds limit);
  void unwatch_kernels() noexcept;
  void work(PostedCore& posted);
  void ring() const;

  GlobalMemory& memory_;
  ParkingPlace place_;
  int clusters_;
  std::unique_ptr<LateNotifier> notifier_;  // with a seed
  DmaEngine dma_;
  std::vector<std::unique_ptr<PostedCore>> cores_;
  SimCore own_core_;
  std::shared_ptr<KernelWatch> watch_;
  std::atomic<bool> stop_{false};
  std::atomic<int> running_fibers_{0};
  std::unique_ptr<FiberPool> pool_;  // null if the fibers are on the maker's thread
};

}  // namespace baton::chip
