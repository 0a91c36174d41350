#include "kernel/running_groups.hpp"

#include <signal.h>

#include <array>

namespace baton::kernel {
namespace {

/// More than compile at a time; those beyond are not listed and end by themselves.
std::array<std::atomic<pid_t>, 256> groups{};
static_assert(std::atomic<pid_t>::is_always_lock_free);

}  // namespace

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
  for (const std::atomic<pid_t>& slot : groups) {
    const pid_t group = slot.load(std::memory_order_relaxed);
    if (group > 0) ::kill(-group, SIGKILL);
  }
}

}  // namespace baton::kernel
