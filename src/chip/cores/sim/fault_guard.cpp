#include "chip/cores/sim/fault_guard.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/abandoned_frames.hpp"
#include "base/fail.hpp"
#include "chip/cores/sim/source_line.hpp"

namespace baton::chip {
namespace {

constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t kHandlerStackBytes = std::size_t{64} * 1024;

std::array<struct sigaction, kSignals.size()> previous_actions;

#if defined(__x86_64__)
/// The word on top of a stack. To the address sanitizer it may be nobody's: a frame has room between its variables.
[[gnu::noinline, gnu::no_sanitize_address]] const void* top_of(const void* stack) noexcept {
  return *static_cast<const void* const*>(stack);
}
#endif

/// Fills in where the machine was.
void note_registers(FaultGuard& guard, const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  guard.instruction = guard.caller = guard.stack = nullptr;
#if defined(__aarch64__)
  guard.instruction = reinterpret_cast<const void*>(machine.pc);
  guard.caller = reinterpret_cast<const void*>(machine.regs[30]);
  guard.stack = reinterpret_cast<const void*>(machine.sp);
#elif defined(__x86_64__)
  guard.instruction = reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
  guard.stack = reinterpret_cast<const void*>(machine.gregs[REG_RSP]);
  // Where the stack itself is the fault, reading it would be the next.
  const auto stack = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
  const auto fault = reinterpret_cast<std::uintptr_t>(guard.address);
  constexpr std::uintptr_t kNear = 64 * 1024;
  if (fault + kNear < stack || fault > stack + kNear) guard.caller = top_of(guard.stack);
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  FaultGuard* guard = current_fault_guard();
  if (guard == nullptr) {
    // Not a kernel's: let it happen again under whoever handled it before.
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      if (kSignals[i] == signal) ::sigaction(signal, &previous_actions[i], nullptr);
    }
    return;
  }
  guard->signal = signal;
  guard->address = info->si_addr;
  guard->blocked = static_cast<const ucontext_t*>(context)->uc_sigmask;
  note_registers(*guard, context);
  ::siglongjmp(guard->recovery, 1);
}

void install_handlers() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    // On a stack of its own, because the fault may be that the stack is used up; not blocked, because the handler does
    // not return.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &previous_actions[i]);
  });
}

/// The stack on which a thread's handler runs.
class HandlerStack {
 public:
  HandlerStack() {
    install_handlers();
    ::sigaltstack(nullptr, &before_);
    if ((before_.ss_flags & SS_DISABLE) == 0) return;  // somebody gave this thread one already
    memory_ = ::mmap(nullptr, kHandlerStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) fail_system("mapping a stack for fault handlers");
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = kHandlerStackBytes;
    ::sigaltstack(&stack, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;
  ~HandlerStack() {
    if (memory_ == nullptr) return;
    ::sigaltstack(&before_, nullptr);
    ::munmap(memory_, kHandlerStackBytes);
  }

  /// The handler left it by a jump.
  void abandon() const noexcept {
    const auto* bottom = static_cast<const char*>(memory_ == nullptr ? before_.ss_sp : memory_);
    forget_frames(bottom, bottom + (memory_ == nullptr ? before_.ss_size : kHandlerStackBytes));
  }

 private:
  stack_t before_{};
  void* memory_ = nullptr;
};

/// The library or program that holds an address, and its nearest symbol; nothing if none does.
std::optional<Dl_info> module_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return std::nullopt;
  return info;
}

std::string_view symbol_of(const Dl_info& info) { return info.dli_sname == nullptr ? "?" : info.dli_sname; }

std::string describe_line(const void* instruction, const Dl_info& module) {
  if (const auto line = source_line(instruction)) return fmt::format("at {} in {}", *line, symbol_of(module));
  const auto offset = static_cast<const char*>(instruction) - static_cast<const char*>(module.dli_fbase);
  return fmt::format("in {} (addr2line -e {} {:#x} tells the line)", symbol_of(module), module.dli_fname, offset);
}

/// The line of the instruction; of its caller, if the instruction is no code of the kernel's library but its caller is.
std::string describe_place(const FaultGuard& guard, const void* kernel) {
  const auto module = module_of(guard.instruction);
  if (!module) return "at an unknown place";
  const auto home = module_of(kernel);
  const auto caller = module_of(guard.caller);
  if (!home || !caller || module->dli_fbase == home->dli_fbase || caller->dli_fbase != home->dli_fbase) {
    return describe_line(guard.instruction, *module);
  }
  // The byte before the instruction to which the call returns belongs to the call.
  return fmt::format("in {}, called {}", symbol_of(*module),
                     describe_line(static_cast<const char*>(guard.caller) - 1, *caller));
}

std::string_view what_happened(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV: it touched memory that is not there";
    case SIGBUS: return "SIGBUS: it touched memory that cannot be had";
    case SIGFPE: return "SIGFPE: it divided by zero or overflowed";
    default: return "SIGILL: it ran something that is no instruction";
  }
}

}  // namespace

void run_guarded(FaultGuard*& slot, KernelEntry kernel, std::int64_t* args) {
  thread_local HandlerStack handler_stack;
  // The handler fills it: this is done for each kernel.
  FaultGuard guard;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  if (sigsetjmp(guard.recovery, 0) != 0) {
    slot = nullptr;
    // The handler never returns, so nobody else undoes what was blocked for it. sigsetjmp could, but would ask the
    // system for the mask at every call of a kernel.
    ::pthread_sigmask(SIG_SETMASK, &guard.blocked, nullptr);
    forget_frames(guard.stack, __builtin_frame_address(0));
    handler_stack.abandon();
    throw Error(Code::kernel_fault, fmt::format("{} (address {}), {}", what_happened(guard.signal), guard.address,
                                                describe_place(guard, reinterpret_cast<const void*>(kernel))));
  }
  slot = &guard;
  try {
    kernel(args);
  } catch (...) {
    slot = nullptr;
    throw;
  }
  slot = nullptr;
}

}  // namespace baton::chip
