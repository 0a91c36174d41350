#include "kernel/running_groups.hpp"

#include <sched.h>
#include <signal.h>

#include <array>

namespace baton::kernel {
namespace {

/// More than compile at a time; those beyond are not listed and end by themselves.
std::array<std::atomic<pid_t>, 256> groups{};
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// Groups that were started and are not listed yet.
std::atomic<int> starting{0};
/// Starting takes far less than this many turns of others.
constexpr int kMostYields = 100'000;

}  // namespace

StartingGroup::StartingGroup() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &mask_before_);
  // Pairs with kill_running_groups(): a thread that sees it gone sees the group in its slot.
  starting.fetch_add(1, std::memory_order_seq_cst);
}

StartingGroup::~StartingGroup() {
  starting.fetch_sub(1, std::memory_order_seq_cst);
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

// Relaxed: only numbers are exchanged, no memory behind them.
RunningGroup::RunningGroup(pid_t group) noexcept {
  for (std::atomic<pid_t>& slot : groups) {
    pid_t free = 0;
    if (slot.compare_exchange_strong(free, group, std::memory_order_relaxed)) {
      slot_ = &slot;
      return;
    }
  }
}

void RunningGroup::finish() noexcept {
  if (slot_ != nullptr) slot_->store(0, std::memory_order_relaxed);
  slot_ = nullptr;
}

void kill_running_groups() noexcept {
  for (int i = 0; i < kMostYields && starting.load(std::memory_order_seq_cst) != 0; ++i) ::sched_yield();
  for (const std::atomic<pid_t>& slot : groups) {
    const pid_t group = slot.load(std::memory_order_relaxed);
    if (group > 0) ::kill(-group, SIGKILL);
  }
}

}  // namespace baton::kernel
