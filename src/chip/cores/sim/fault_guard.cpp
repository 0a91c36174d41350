#include "chip/cores/sim/fault_guard.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pto/target/core.hpp>

#include "base/abandoned_frames.hpp"
#include "base/fail.hpp"
#include "base/thrown.hpp"
#include "chip/cores/sim/code_name.hpp"
#include "chip/cores/sim/source_line.hpp"
#include "chip/cores/sim/throw_witness.hpp"

namespace baton::chip {
namespace {

constexpr std::array<int, 6> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
constexpr std::size_t kHandlerStackBytes = std::size_t{64} * 1024;

std::array<struct sigaction, kSignals.size()> previous_actions;
struct sigaction previous_interruption;

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

/// Whether the code that was interrupted caused it, as opposed to kill().
bool is_caused_here(const siginfo_t& info) noexcept {
  return info.si_code > 0 || (info.si_code == SI_TKILL && info.si_pid == ::getpid());
}

/// Lets it happen again under the handler that was there before.
void pass_on(int signal, const siginfo_t& info) noexcept {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) ::sigaction(signal, &previous_actions[i], nullptr);
  }
  // A faulty instruction runs again. What was sent, and a trap, which may lie behind already, do not come again.
  if (info.si_code <= 0 || signal == SIGTRAP) ::raise(signal);
}

[[noreturn]] void leave_kernel(FaultGuard& guard, int signal, const void* address, const void* context) noexcept {
  guard.signal = signal;
  guard.address = address;
  guard.blocked = static_cast<const ucontext_t*>(context)->uc_sigmask;
  note_registers(guard, context);
  guard.caller_count = 0;
  if (signal == SIGABRT) {
    guard.caller_count = ::backtrace(guard.callers.data(), static_cast<int>(guard.callers.size()));
  }
  ::siglongjmp(guard.recovery, 1);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  FaultGuard* guard = is_caused_here(*info) ? current_guarded_kernel().guard : nullptr;
  if (guard == nullptr) return pass_on(signal, *info);
  leave_kernel(*guard, signal, info->si_code > 0 ? info->si_addr : nullptr, context);
}

/// One may be on its way to a thread whose kernel has ended meanwhile, or is not to be left here: it is tried again.
void on_interruption(int signal, siginfo_t* info, void* context) {
  const GuardedKernel kernel = current_guarded_kernel();
  FaultGuard seen{};
  note_registers(seen, context);
  const auto instruction = reinterpret_cast<std::uintptr_t>(seen.instruction);
  if (kernel.guard != nullptr) {
    RunningKernel& running = *kernel.running;
    running.interrupted_at.store(instruction, std::memory_order_relaxed);
    // Both pair with KernelWatch, which writes the one and reads the other.
    if (running.look.load(std::memory_order_acquire) == RunningKernel::Look::wanted) {
      running.sighting.note(running.turn.load(std::memory_order_relaxed), *kernel.call, instruction);
      running.look.store(RunningKernel::Look::taken, std::memory_order_release);
    }
  }
  if (kernel.guard != nullptr && kernel.running->may_be_left_at(instruction)) {
    leave_kernel(*kernel.guard, signal, nullptr, context);
  }
  if (info->si_code == SI_TKILL && info->si_pid == ::getpid()) return;
  if ((previous_interruption.sa_flags & SA_SIGINFO) != 0) {
    previous_interruption.sa_sigaction(signal, info, context);
  } else if (previous_interruption.sa_handler != SIG_DFL && previous_interruption.sa_handler != SIG_IGN) {
    previous_interruption.sa_handler(signal);
  }
}

void install_handlers() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    // The first call loads a library, which a handler must not.
    void* here = nullptr;
    static_cast<void>(::backtrace(&here, 1));
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    // On a stack of its own, because the fault may be that the stack is used up; not blocked, because the handler does
    // not return.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &previous_actions[i]);
    action.sa_sigaction = on_interruption;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    ::sigaction(kInterruption, &action, &previous_interruption);
  });
}

/// The threads that have run kernels.
class KernelThreads {
 public:
  static KernelThreads& of_process() {
    static auto& only = *new KernelThreads;  // threads may end after the last static object
    return only;
  }
  void add(pthread_t thread) {
    const std::lock_guard lock(mutex_);
    threads_.push_back(thread);
  }
  void remove(pthread_t thread) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(threads_, [&](pthread_t one) { return ::pthread_equal(one, thread) != 0; });
  }
  void interrupt() {
    const std::lock_guard lock(mutex_);
    for (const pthread_t thread : threads_) ::pthread_kill(thread, kInterruption);
  }

 private:
  std::mutex mutex_;
  std::vector<pthread_t> threads_;  // guarded by mutex_
};

/// The stack on which a thread's handler runs.
class HandlerStack {
 public:
  HandlerStack() {
    install_handlers();
    ::sigaltstack(nullptr, &before_);
    // Unless somebody gave this thread one already.
    if ((before_.ss_flags & SS_DISABLE) != 0) make();
    KernelThreads::of_process().add(::pthread_self());
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;
  ~HandlerStack() {
    KernelThreads::of_process().remove(::pthread_self());
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
  void make() {
    memory_ = ::mmap(nullptr, kHandlerStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) fail_system("mapping a stack for fault handlers");
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = kHandlerStackBytes;
    ::sigaltstack(&stack, nullptr);
  }

  stack_t before_{};
  void* memory_ = nullptr;
};

/// The library or program that holds an address, and its nearest symbol; nothing if none does.
std::optional<Dl_info> module_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return std::nullopt;
  return info;
}

/// Where something is, for people.
struct Spot {
  std::string text = "at an unknown place";
  bool has_line = false;
};

Spot line_of(const void* instruction, const Dl_info& module) {
  const std::string name = name_of_code(module.dli_sname);
  if (const auto line = source_line(instruction)) {
    // What compilers put aside because it is seldom reached, such as a throw, has no symbol.
    return {module.dli_sname == nullptr ? "at " + *line : fmt::format("at {} in {}", *line, name), true};
  }
  const auto offset = static_cast<const char*>(instruction) - static_cast<const char*>(module.dli_fbase);
  return {fmt::format("in {} (addr2line -e {} {:#x} tells the line)", name, module.dli_fname, offset)};
}

/// Of a call, by the address to which it returns.
Spot line_of_call(const void* return_address) {
  // The byte before the instruction to which a call returns belongs to the call.
  const void* call = static_cast<const char*>(return_address) - 1;
  const auto module = module_of(call);
  return module ? line_of(call, *module) : Spot();
}

std::span<void* const> callers_of(const FaultGuard& guard) {
  return {guard.callers.data(), static_cast<std::size_t>(guard.caller_count)};
}

/// The first of `callers` that stands in the kernel's library, and there in its author's text: templates of the
/// standard library, which stand there too, only lead to it.
Spot first_at_home(std::span<void* const> callers, const void* kernel) {
  const auto home = module_of(kernel);
  Spot first;
  bool found = false;
  for (const void* caller : callers) {
    const auto module = module_of(caller);
    if (!home || !module || module->dli_fbase != home->dli_fbase) continue;
    Spot place = line_of_call(caller);
    if (place.text.find("/include/c++/") == std::string::npos) return place;
    if (!found) first = std::move(place);
    found = true;
  }
  return first;
}

/// Of abort(): the line in the kernel's library that led to it.
Spot spot_of_abort(const FaultGuard& guard, const void* kernel) {
  const auto callers = callers_of(guard);
  // Before the instruction that was interrupted come the frames of the handler.
  const auto before = std::ranges::find(callers, guard.instruction) - callers.begin();
  return first_at_home(callers.subspan(static_cast<std::size_t>(before)), kernel);
}

/// Of an exception: the line in the kernel's library that threw, or called what threw.
Spot spot_of_throw(const FaultGuard& guard, const void* kernel) {
  const auto callers = callers_of(guard);
  const auto throws = [](const void* caller) {
    const auto module = module_of(caller);
    const std::string_view symbol = module && module->dli_sname != nullptr ? module->dli_sname : "";
    return symbol == "__cxa_throw" || symbol == "__cxa_rethrow";
  };
  const auto before = std::ranges::find_if(callers, throws) - callers.begin();
  return first_at_home(callers.subspan(static_cast<std::size_t>(before)), kernel);
}

/// The line of the instruction; of its caller, if the instruction is not in the kernel's library but its caller is.
Spot spot_of(const FaultGuard& guard, const void* kernel) {
  if (guard.caller_count > 0) return spot_of_abort(guard, kernel);
  const auto module = module_of(guard.instruction);
  if (!module) return {};
  const auto home = module_of(kernel);
  const auto caller = module_of(guard.caller);
  if (!home || !caller || module->dli_fbase == home->dli_fbase || caller->dli_fbase != home->dli_fbase) {
    return line_of(guard.instruction, *module);
  }
  Spot caller_spot = line_of_call(guard.caller);
  caller_spot.text = fmt::format("in {}, called {}", name_of_code(module->dli_sname), caller_spot.text);
  return caller_spot;
}

std::string_view what_happened(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV: it touched memory that is not there";
    case SIGBUS: return "SIGBUS: it touched memory that cannot be had";
    case SIGFPE: return "SIGFPE: it divided by zero or overflowed";
    case SIGILL: return "SIGILL: it reached a trap, or something that is not an instruction";
    case SIGTRAP: return "SIGTRAP: it reached a trap";
    default: return "SIGABRT: an assertion failed, or it called abort()";
  }
}

KernelFault fault_at(std::string what, const Spot& spot) {
  return {Code::kernel_fault, std::move(what) + ", " + spot.text, nullptr,
          spot.has_line ? info_of(Situation::kernel_line).remedy : std::string_view()};
}

KernelFault fault_of(const FaultGuard& guard, const void* kernel) {
  if (guard.signal == SIGABRT && guard.last_words != nullptr) {
    const LastWords& words = *guard.last_words;
    const Spot spot = line_of_call(words.from);
    if (words.by == BATON_LEAVING_BY_ASSERTION) return fault_at("crashed: an assertion failed: " + words.how, spot);
    KernelFault fault = fault_at("called " + words.how, spot);
    fault.remedy = info_of(Situation::kernel_exit).remedy;
    return fault;
  }
  std::string what = fmt::format("crashed: {}", what_happened(guard.signal));
  const bool touched = guard.signal == SIGSEGV || guard.signal == SIGBUS;
  if (touched) what += fmt::format(" (address {})", guard.address);
  KernelFault fault = fault_at(std::move(what), spot_of(guard, kernel));
  if (touched) fault.address = guard.address;
  return fault;
}

}  // namespace

std::optional<KernelFault> run_guarded(FaultGuard*& slot, KernelEntry kernel, std::int64_t* args) {
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
    std::memcpy(abi::__cxa_get_globals(), guard.exceptions.data(), guard.exceptions.size());
    const auto* code = reinterpret_cast<const void*>(kernel);
    if (guard.signal == kInterruption) return KernelFault{Code::kernel_timeout, spot_of(guard, code).text};
    return fault_of(guard, code);
  }
  std::memcpy(guard.exceptions.data(), abi::__cxa_get_globals(), guard.exceptions.size());
  slot = &guard;
  guard.caller_count = 0;
  guard.last_words = nullptr;
  try {
    kernel(args);
  } catch (const Error&) {
    slot = nullptr;
    throw;
  } catch (const std::bad_alloc&) {
    slot = nullptr;
    throw;
  } catch (const ThrowWitness&) {  // sees those that come by, catches none
    slot = nullptr;
  } catch (...) {
    slot = nullptr;
    return fault_at("threw " + describe_thrown(), spot_of_throw(guard, reinterpret_cast<const void*>(kernel)));
  }
  slot = nullptr;
  return std::nullopt;
}

std::string describe_call(const void* return_address) { return line_of_call(return_address).text; }

std::string describe_instruction(const void* instruction) {
  const auto module = module_of(instruction);
  return module ? line_of(instruction, *module).text : Spot().text;
}

void interrupt_kernels() { KernelThreads::of_process().interrupt(); }

}  // namespace baton::chip
