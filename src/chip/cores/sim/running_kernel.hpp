// What others see of the kernel that a core runs: the watch of their time, and the handler that interrupts one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "chip/cores/kernel_call.hpp"

namespace baton::chip {

/// A look at a kernel from its own thread.
struct KernelSighting {
  std::uint64_t turn = 0;
  std::uint64_t task = 0;
  std::uintptr_t instruction = 0;
  std::array<char, 64> name{};  // cut to what fits

  void note(std::uint64_t of_turn, const KernelCall& call, std::uintptr_t at) noexcept {
    turn = of_turn;
    task = call.task;
    instruction = at;
    std::size_t i = 0;
    for (; i + 1 < name.size() && call.name[i] != '\0'; ++i) name[i] = call.name[i];
    name[i] = '\0';
  }
};

struct RunningKernel {
  /// Odd while a kernel runs. Written by the core's thread, releases `entry`; pairs with the load in
  /// KernelWatch::look().
  std::atomic<std::uint64_t> turn{0};
  std::atomic<KernelEntry> entry{nullptr};
  /// Whether the kernel has called a function of its core, where it may hold what others need. Its own thread writes
  /// it.
  std::atomic<bool> inside_core{false};
  /// The instruction that was interrupted last; 0: none since it was set so. Relaxed: it publishes nothing but itself.
  std::atomic<std::uintptr_t> interrupted_at{0};

  /// What the handler is asked for, and what it answers. Only the watch asks, and only it reads the answer.
  enum class Look : std::uint8_t { none, wanted, taken };
  /// Wanted is a release of the watch that has read the last one, and pairs with the handler's load; taken is a release
  /// of the handler, and pairs with the load in KernelWatch.
  std::atomic<Look> look{Look::none};
  KernelSighting sighting;

  /// The turn that has taken too long. Written by the watch, releases the two below; pairs with the load in
  /// may_be_left_at().
  std::atomic<std::uint64_t> overdue{0};
  /// Where the code of the kernel's library lies; all addresses once that was in vain for long.
  std::atomic<std::uintptr_t> code_begin{0};
  std::atomic<std::uintptr_t> code_end{0};

  /// A kernel runs.
  class Turn {
   public:
    Turn(RunningKernel& core, KernelEntry kernel) noexcept : core_(core) {
      core_.entry.store(kernel, std::memory_order_relaxed);
      // The kernel before may have crashed in a function of its core.
      core_.inside_core.store(false, std::memory_order_relaxed);
      core_.turn.store(core_.turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { core_.turn.store(core_.turn.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

   private:
    RunningKernel& core_;
  };

  /// The kernel is in a function of its core.
  class Inside {
   public:
    explicit Inside(RunningKernel& core) noexcept : core_(core) {
      core_.inside_core.store(true, std::memory_order_relaxed);
      // A handler on this thread sees it before what follows.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      core_.inside_core.store(false, std::memory_order_relaxed);
    }

   private:
    RunningKernel& core_;
  };

  /// The core's thread asks: must the kernel end?
  [[nodiscard]] bool is_overdue() const noexcept {
    return overdue.load(std::memory_order_relaxed) == turn.load(std::memory_order_relaxed);
  }
  /// A handler on the core's thread asks: is the kernel overdue, and does it hold nothing at this instruction?
  [[nodiscard]] bool may_be_left_at(std::uintptr_t instruction) const noexcept {
    if (overdue.load(std::memory_order_acquire) != turn.load(std::memory_order_relaxed)) return false;
    if (inside_core.load(std::memory_order_relaxed)) return false;
    return instruction >= code_begin.load(std::memory_order_relaxed) &&
           instruction < code_end.load(std::memory_order_relaxed);
  }
};

}  // namespace baton::chip
