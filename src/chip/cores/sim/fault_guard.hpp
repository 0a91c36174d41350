// Turns a crash inside a kernel (SIGSEGV, SIGBUS, SIGFPE, SIGILL) into an error, and lets the process live on.
#pragma once

#include <csetjmp>
#include <csignal>
#include <string>

#include "chip/cores/kernel_call.hpp"

namespace baton::chip {

/// Where a crash goes on. Lives on the stack of the fiber that runs the kernel.
struct FaultGuard {
  sigjmp_buf recovery;
  int signal;
  const void* address;
  const void* instruction;
  const void* caller;  // of a function that keeps no frame, such as memcpy
  const void* stack;   // the stack pointer
  sigset_t blocked;    // signals that were blocked before the handler ran
};

/// The guard of the core that runs on the calling fiber, or nullptr. Called from signal handlers. Defined by the core.
[[nodiscard]] FaultGuard* current_fault_guard() noexcept;

/// Calls `kernel` on the calling fiber, with its guard in `slot` meanwhile. If it crashes, its frames are abandoned
/// (their destructors do not run) and Error (kernel_fault) is thrown that tells signal, address and place. Crashes
/// elsewhere reach whoever handled them before.
void run_guarded(FaultGuard*& slot, KernelEntry kernel, std::int64_t* args);

}  // namespace baton::chip
