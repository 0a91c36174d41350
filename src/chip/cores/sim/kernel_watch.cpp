#include "chip/cores/sim/kernel_watch.hpp"

#include <link.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/service_thread.hpp"
#include "chip/cores/sim/fault_guard.hpp"

namespace baton::chip {
namespace {

/// Looks at a kernel within its limit.
constexpr int kLooks = 8;
constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds(1);
/// From when on a kernel is shown, and between looks at those that are.
constexpr std::chrono::nanoseconds kLongForAKernel = std::chrono::seconds(1);
/// Between attempts to interrupt one: it may be in a function of its core or of another library, and return soon.
constexpr std::chrono::nanoseconds kRetry = std::chrono::milliseconds(10);
/// After so long it is interrupted wherever it is.
constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(2);
/// After a first look at a kernel was asked for: its thread may need to get a processor.
constexpr std::chrono::nanoseconds kAnswer = std::chrono::milliseconds(50);

struct CodeRange {
  std::uintptr_t wanted;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// The executable segment that holds an address.
CodeRange code_around(std::uintptr_t address) {
  CodeRange code{.wanted = address};
  const auto look_at = [](dl_phdr_info* object, std::size_t, void* into) {
    auto& found = *static_cast<CodeRange*>(into);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& segment = object->dlpi_phdr[i];
      const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      if (found.wanted < begin || found.wanted >= begin + segment.p_memsz) continue;
      found.begin = begin;
      found.end = begin + segment.p_memsz;
      return 1;
    }
    return 0;
  };
  ::dl_iterate_phdr(look_at, &code);
  return code;
}

}  // namespace

std::shared_ptr<KernelWatch> KernelWatch::of_process() {
  static std::mutex mutex;
  static std::weak_ptr<KernelWatch> only;
  const std::lock_guard lock(mutex);
  std::shared_ptr<KernelWatch> watch = only.lock();
  if (!watch) only = watch = std::make_shared<KernelWatch>();
  return watch;
}

KernelWatch::KernelWatch() : thread_(start_thread([this] { watch(); })) {}

KernelWatch::~KernelWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void KernelWatch::add(RunningKernel& kernel, std::chrono::nanoseconds limit, GlobalMemory& memory, std::string core) {
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back({.kernel = &kernel, .limit = limit, .memory = &memory, .core = std::move(core)});
  }
  changed_.notify_all();
}

void KernelWatch::remove(const RunningKernel& kernel) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(watched_, &kernel, &Watched::kernel);
  if (found == watched_.end()) return;
  GlobalMemory& memory = *found->memory;
  watched_.erase(found);
  if (shown_.contains(&memory)) show(memory);
}

void KernelWatch::watch() {
  std::unique_lock lock(mutex_);
  std::chrono::nanoseconds next{0};
  Clock::time_point last = Clock::now();
  while (!stop_) {
    if (watched_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, next);
    }
    const Clock::time_point now = Clock::now();
    // A process that was stopped, or stood in a debugger, had no time to run its kernels.
    next = look(std::min<std::chrono::nanoseconds>(now - std::exchange(last, now), 2 * next));
  }
}

std::chrono::nanoseconds KernelWatch::look(std::chrono::nanoseconds passed) {
  if (watched_.empty()) return std::chrono::nanoseconds(0);  // the next kernel begins its time then
  std::chrono::nanoseconds next = std::chrono::nanoseconds::max();
  std::vector<Watched*> computing;
  std::vector<Watched*> waiting;
  for (Watched& one : watched_) {
    next = std::min({next, std::max(one.limit / kLooks, kShortest), kLongForAKernel});
    const std::uint64_t turn = one.kernel->turn.load(std::memory_order_acquire);
    one.age = turn == one.turn && turn % 2 != 0 ? one.age + passed : std::chrono::nanoseconds(0);
    one.turn = turn;
    if (one.age < one.limit) continue;
    (one.kernel->inside_core.load(std::memory_order_relaxed) ? waiting : computing).push_back(&one);
  }
  if (look_at_long_ones()) next = std::min(next, kAnswer);
  if (computing.empty() && waiting.empty()) return next;
  if (computing.empty()) computing.swap(waiting);
  for (const Watched* one : computing) mark_overdue(*one);
  // These may wait because another one has kept their thread: they get their time once more.
  for (Watched* one : waiting) one->age = std::chrono::nanoseconds(0);
  interrupt_kernels();
  return std::min(next, kRetry);
}

bool KernelWatch::look_at_long_ones() {
  using Look = RunningKernel::Look;
  std::set<GlobalMemory*> changed = shown_;
  bool awaited = false;
  for (Watched& one : watched_) {
    RunningKernel& kernel = *one.kernel;
    // One that waits tells what it waits for itself.
    if (one.age < kLongForAKernel || kernel.inside_core.load(std::memory_order_relaxed)) {
      one.what.clear();
      one.look_at = kLongForAKernel;
      continue;
    }
    // Pairs with the store of the handler.
    const Look look = kernel.look.load(std::memory_order_acquire);
    if (look == Look::taken && kernel.sighting.turn == one.turn) {
      const KernelSighting& seen = kernel.sighting;
      one.what = fmt::format("kernel '{}'{} on {}", seen.name.data(),
                             seen.task == 0 ? "" : fmt::format(" (task {})", seen.task), one.core);
      one.where = describe_instruction(reinterpret_cast<const void*>(seen.instruction));
      changed.insert(one.memory);
    }
    if (look != Look::wanted) {
      if (!one.what.empty() && one.age < one.look_at) continue;
      one.look_at = 2 * one.age;
      // Pairs with the load of the handler: it may write the sighting again.
      kernel.look.store(Look::wanted, std::memory_order_release);
    }
    awaited = true;
  }
  for (GlobalMemory* memory : changed) show(*memory);
  if (awaited) interrupt_kernels();
  return awaited;
}

void KernelWatch::show(GlobalMemory& memory) {
  std::vector<LongKernel> kernels;
  for (const Watched& one : watched_) {
    if (one.memory == &memory && !one.what.empty()) kernels.push_back({one.what, one.where, one.age});
  }
  memory.show_kernels(kernels);
  if (kernels.empty()) {
    shown_.erase(&memory);
  } else {
    shown_.insert(&memory);
  }
}

void KernelWatch::mark_overdue(const Watched& one) {
  RunningKernel& kernel = *one.kernel;
  const CodeRange code = code_around(reinterpret_cast<std::uintptr_t>(kernel.entry.load(std::memory_order_relaxed)));
  const bool anywhere = one.age > one.limit + kPatience;
  kernel.code_begin.store(anywhere ? 0 : code.begin, std::memory_order_relaxed);
  kernel.code_end.store(anywhere ? UINTPTR_MAX : code.end, std::memory_order_relaxed);
  // Pairs with the load in RunningKernel::may_be_left_at().
  kernel.overdue.store(one.turn, std::memory_order_release);
}

}  // namespace baton::chip
