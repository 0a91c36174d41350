#include "base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace baton {
namespace {

int operation(int base, FutexScope scope) noexcept {
  return scope == FutexScope::process ? base | FUTEX_PRIVATE_FLAG : base;
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, Deadline deadline, FutexScope scope) noexcept {
  const auto since_start = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.when().time_since_epoch());
  timespec when{};
  when.tv_sec = static_cast<time_t>(since_start.count() / 1'000'000'000);
  when.tv_nsec = static_cast<long>(since_start.count() % 1'000'000'000);
  // FUTEX_WAIT_BITSET takes an absolute time on CLOCK_MONOTONIC, which is what steady_clock counts on Linux.
  ::syscall(SYS_futex, &word, operation(FUTEX_WAIT_BITSET, scope), seen, &when, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_all(std::atomic<std::uint32_t>& word, FutexScope scope) noexcept {
  ::syscall(SYS_futex, &word, operation(FUTEX_WAKE, scope), INT_MAX, nullptr, nullptr, 0);
}

}  // namespace baton
