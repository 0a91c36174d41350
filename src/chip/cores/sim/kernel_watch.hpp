// The time of kernels. One thread of the process looks now and then which of them have computed for long, so that
// others can see it, and for too long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "chip/cores/global_memory.hpp"
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

  /// Until remove(), kernels of this core have `limit`, give or take an eighth of it, and those that compute for long
  /// are shown to `memory`. `core` is its name.
  void add(RunningKernel& kernel, std::chrono::nanoseconds limit, GlobalMemory& memory, std::string core);
  void remove(const RunningKernel& kernel) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    RunningKernel* kernel;
    std::chrono::nanoseconds limit;
    GlobalMemory* memory;
    std::string core;
    std::uint64_t turn = 0;
    std::chrono::nanoseconds age{0};      // of the turn
    std::chrono::nanoseconds look_at{0};  // the age at which it is looked at next
    std::string what{};                   // of a kernel that computes for long: what it was when it was seen last
    std::string where{};
  };

  void watch();
  /// `passed` since the last look. Returns how long the next one has time.
  [[nodiscard]] std::chrono::nanoseconds look(std::chrono::nanoseconds passed);
  static void mark_overdue(const Watched& one);
  /// Reads what was seen of those that compute for long, shows them, and asks for another look, ever more rarely: it
  /// interrupts the kernel. True if an answer is awaited.
  [[nodiscard]] bool look_at_long_ones();
  void show(GlobalMemory& memory);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watched> watched_;   // guarded by mutex_
  std::set<GlobalMemory*> shown_;  // those that show a kernel; guarded by mutex_
  bool stop_ = false;              // guarded by mutex_
  std::thread thread_;
};

}  // namespace baton::chip
