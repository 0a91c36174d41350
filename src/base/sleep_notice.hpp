// A thread's notice that it is about to sleep, for who hands it work often and wakes it seldom.
//
//   who hands over   puts work where the thread looks ─> wake(): light fence ─> is the notice up? ─> take it down, ring
//   the thread       announce(): puts the notice up ─> heavy fence ─> looks for work and at the notice ─> sleeps
//
// The thread that takes the notice down rings once. That may be before the thread has come to its doorbell, and for
// work that is done by now; the next one finds no notice, and does not ring. So a thread whose notice is gone must
// not sleep.
#pragma once

#include <atomic>

#include "base/asymmetric_fence.hpp"
#include "base/doorbell.hpp"

namespace baton {

/// Rules supplies Atomic<T> and the two fences; the model checker runs the same code with its own.
template <class Rules>
class BasicSleepNotice {
 public:
  // The thread.

  /// Before it sleeps. It must look for work after this, and once more after each sleep.
  void announce() noexcept {
    // Pairs with wake(): the thread looks after the fence.
    up_.store(true, std::memory_order_relaxed);
    announced_ = true;
    Rules::heavy_fence();
  }
  /// Whether somebody has taken the notice down: to be asked with whether there is work.
  [[nodiscard]] bool was_seen() const noexcept {
    // Pairs with the exchange in wake(), which comes before the ring: a thread that missed the ring sees this.
    return announced_ && !up_.load(std::memory_order_seq_cst);
  }
  /// When it is awake again.
  void withdraw() noexcept {
    if (!announced_) return;
    announced_ = false;
    // Only where it changes something: others read it with each piece of work.
    if (up_.load(std::memory_order_relaxed)) up_.store(false, std::memory_order_relaxed);
  }

  // Others.

  /// After work was handed over. Costs one load while the notice is down.
  template <class Doorbell>
  void wake(Doorbell& doorbell, FutexScope scope) noexcept {
    // Pairs with announce(): either this sees the notice, or the thread's look sees the work.
    Rules::light_fence();
    if (!is_up()) return;
    // The thread may not have reached its doorbell: the ring must count also if nobody sleeps yet.
    if (up_.exchange(false, std::memory_order_seq_cst)) doorbell.ring_always(scope);
  }
  /// For guesses; nothing follows from it.
  [[nodiscard]] bool is_up() const noexcept { return up_.load(std::memory_order_relaxed); }

 private:
  typename Rules::template Atomic<bool> up_{false};
  bool announced_ = false;  // the thread's
};

struct FencedMachineRules : MachineRules {
  static void light_fence() noexcept { baton::light_fence(); }
  static void heavy_fence() noexcept { baton::heavy_fence(); }
};

using SleepNotice = BasicSleepNotice<FencedMachineRules>;

}  // namespace baton
