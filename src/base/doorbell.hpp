// The doorbell: how a waiter sleeps without missing a change, and how the one that makes a change wakes it.
//
// A waiter announces itself, tests its condition once more and then sleeps. The one that changes the condition
// makes the change, then looks whether anybody announced itself. The two sides form a store-buffer pattern
// (each writes one word, then reads the other's), so both writes and both reads must be sequentially consistent:
// with anything weaker both sides may read the old value, and the waiter sleeps through its wake-up.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/deadline.hpp"
#include "base/futex.hpp"

namespace baton {

/// The words of a doorbell; zero is its initial state. They may lie in memory that several processes share.
/// Rules supplies Atomic<T> and the futex calls; the model checker runs the same code with its own.
template <class Rules>
class BasicDoorbell {
 public:
  /// Call after the change has been made with a sequentially consistent store or read-modify-write.
  /// Costs one load while nobody sleeps.
  void ring(FutexScope scope) noexcept {
    // Pairs with the announcement in sleep_unless(): either this load sees it, or the test there sees the change.
    if (sleepers_.load(std::memory_order_seq_cst) != 0) ring_always(scope);
  }

  /// Wakes every sleeper, also those of which no announcement was seen.
  void ring_always(FutexScope scope) noexcept {
    // Pairs with the load in sleep_unless(): a sleeper that read the old number does not fall asleep on it.
    rings_.fetch_add(1, std::memory_order_seq_cst);
    Rules::wake_all(rings_, scope);
  }

  /// Sleeps until somebody rings or `deadline` passes, unless `test` already holds. May return early; the caller tests
  /// again. `test` must read what it tests with sequentially consistent loads.
  template <class Test>
  void sleep_unless(Test&& test, const Deadline& deadline, FutexScope scope) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    // Read before the test: a ring between the test and the futex call changes it, and the futex call returns at once.
    const std::uint32_t rings = rings_.load(std::memory_order_seq_cst);
    if (!test()) Rules::wait(rings_, rings, deadline, scope);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// How many waiters have announced themselves. For reports.
  [[nodiscard]] std::uint32_t sleepers() const noexcept { return sleepers_.load(std::memory_order_relaxed); }

 private:
  template <class T>
  using Atomic = typename Rules::template Atomic<T>;

  Atomic<std::uint32_t> rings_{0};
  Atomic<std::uint32_t> sleepers_{0};
};

/// The rules of the machine: std::atomic and the kernel's futexes.
struct MachineRules {
  template <class T>
  using Atomic = std::atomic<T>;
  static void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, Deadline deadline, FutexScope scope) noexcept {
    futex_wait(word, seen, deadline, scope);
  }
  static void wake_all(std::atomic<std::uint32_t>& word, FutexScope scope) noexcept { futex_wake_all(word, scope); }
};

using Doorbell = BasicDoorbell<MachineRules>;
static_assert(sizeof(Doorbell) == 8);

}  // namespace baton
