#include "chip/cores/sim/fault_guard.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/fail.hpp"

namespace baton::chip {
namespace {

constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t kHandlerStackBytes = std::size_t{64} * 1024;

std::array<struct sigaction, kSignals.size()> previous_actions;

const void* instruction_of(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#elif defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#else
  return nullptr;
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
  guard->instruction = instruction_of(context);
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

 private:
  stack_t before_{};
  void* memory_ = nullptr;
};

std::string describe_place(const void* instruction) {
  Dl_info info{};
  if (instruction == nullptr || ::dladdr(instruction, &info) == 0 || info.dli_fname == nullptr)
    return "at an unknown place";
  const auto offset = static_cast<const char*>(instruction) - static_cast<const char*>(info.dli_fbase);
  return fmt::format("in {} (addr2line -e {} {:#x} tells the line)", info.dli_sname == nullptr ? "?" : info.dli_sname,
                     info.dli_fname, offset);
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

void run_guarded(FaultGuard*& slot, FunctionRef<void()> body) {
  install_handlers();
  thread_local HandlerStack handler_stack;
  static_cast<void>(handler_stack);
  FaultGuard guard{};
  if (sigsetjmp(guard.recovery, 0) != 0) {
    slot = nullptr;
    throw Error(Code::kernel_fault, fmt::format("{} (address {}), {}", what_happened(guard.signal), guard.address,
                                                describe_place(guard.instruction)));
  }
  slot = &guard;
  try {
    body();
  } catch (...) {
    slot = nullptr;
    throw;
  }
  slot = nullptr;
}

}  // namespace baton::chip
