// Turns a crash inside a kernel (a bad address, a trap, abort()) into an error, and lets the process live on.
#pragma once

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <baton/error.hpp>

#include "chip/cores/kernel_call.hpp"
#include "chip/cores/sim/running_kernel.hpp"

namespace baton::chip {

/// What a kernel said before it called abort().
struct LastWords {
  std::uint32_t by;  // BatonLeaving
  std::string how;
  const void* from;  // to which the call that says it would return
};

/// Where a crash goes on. Lives on the stack of the fiber that runs the kernel.
struct FaultGuard {
  sigjmp_buf recovery;
  int signal;  // kInterruption: the kernel was interrupted
  const void* address;
  const void* instruction;
  const void* caller;  // of a function that keeps no frame, such as memcpy
  const void* stack;   // the stack pointer
  sigset_t blocked;    // signals that were blocked before the handler ran
  /// Who called whom, innermost first, from the handler on; only of abort(), whose caller the registers do not tell,
  /// and of an exception.
  std::array<void*, 32> callers;
  int caller_count;
  /// The C++ runtime's state of the thread when the kernel began: an exception that led to abort() is still under way.
  std::array<std::byte, 2 * sizeof(void*)> exceptions;
  const LastWords* last_words;  // null: none
};

/// What a kernel is interrupted with: the programs that know this signal ignore it.
inline constexpr int kInterruption = SIGURG;

/// A kernel that runs on the calling fiber, under its guard.
struct GuardedKernel {
  FaultGuard* guard = nullptr;  // null: none runs
  RunningKernel* running = nullptr;
  const KernelCall* call = nullptr;
};
/// Called from signal handlers. Defined by the core.
[[nodiscard]] GuardedKernel current_guarded_kernel() noexcept;

/// Why a kernel was left before it returned.
struct KernelFault {
  Code code;         // kernel_fault: it crashed or threw; kernel_timeout: it was interrupted
  std::string text;  // "crashed: SIGSEGV ...", "threw ...", with the place; of an interruption the place alone
  const void* address = nullptr;  // that it could not touch
  std::string_view remedy = {};   // empty: that of the code
};

/// Calls `kernel` on the calling fiber, with its guard in `slot` meanwhile. Nothing if it returned. If it crashes or is
/// interrupted, its frames are abandoned: their destructors do not run. An Error and std::bad_alloc come out as they
/// are. Crashes elsewhere, and signals that somebody sent, reach their earlier handlers.
[[nodiscard]] std::optional<KernelFault> run_guarded(FaultGuard*& slot, KernelEntry kernel, std::int64_t* args);

/// Where a call stands, by the address to which it returns: "at scale.cpp:12 in scale".
[[nodiscard]] std::string describe_call(const void* return_address);

/// Where an instruction stands.
[[nodiscard]] std::string describe_instruction(const void* instruction);

/// Interrupts every kernel of this process, which notes where it is, and ends those that are overdue and may be left
/// there. Returns before that is done.
void interrupt_kernels();

}  // namespace baton::chip
