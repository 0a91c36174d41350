// The time limit of kernels. One thread of the process looks now and then whether a kernel has run for too long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "chip/cores/sim/running_kernel.hpp"

namespace baton::chip {

/// A kernel that is overdue ends at its next instruction that calls the core; one that does not call it is interrupted
/// while it is in code of its own library. One that stays elsewhere (in a system call, say) is interrupted there, too,
/// after a while.
class KernelWatch {
 public:
  /// The one of this process, which lives as long as somebody uses it.
  [[nodiscard]] static std::shared_ptr<KernelWatch> of_process();

  KernelWatch();
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;
  ~KernelWatch();

  /// Until remove(), kernels of this core have `limit`, give or take an eighth of it.
  void add(RunningKernel& kernel, std::chrono::nanoseconds limit);
  void remove(const RunningKernel& kernel) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    RunningKernel* kernel;
    std::chrono::nanoseconds limit;
    std::uint64_t turn = 0;
    std::chrono::nanoseconds age{0};  // of the turn
  };

  void watch();
  /// `passed` since the last look. Returns how long the next one has time.
  [[nodiscard]] std::chrono::nanoseconds look(std::chrono::nanoseconds passed);
  static void mark_overdue(const Watched& one);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watched> watched_;  // guarded by mutex_
  bool stop_ = false;             // guarded by mutex_
  std::thread thread_;
};

}  // namespace baton::chip
