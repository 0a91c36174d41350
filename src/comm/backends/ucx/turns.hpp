// Whose turn it is to look for messages of other hosts: that of the thread of a path, or of threads of the rank that
// look themselves because they wait.
//
// A message that wakes the thread takes the processor from the thread that waits for that message. So while others look
// the thread rests: the alarm is not armed, and it comes back after a lease to see whether they still do. A thread that
// falls asleep arms the alarm, and wakes nobody for that. One that stops looking without falling asleep leaves messages
// lying, until the thread has come back twice at most. One that begins to look while the thread sleeps disarms the
// alarm after a few messages: each of them may wake the thread, and be gone before it has run.
#pragma once

#include <atomic>
#include <cstdint>

namespace baton::ucx {

/// What the thread does after its turn.
enum class Next : std::uint8_t {
  rest,   // for a lease; the alarm does not wake it
  sleep,  // until the alarm goes off
  again,  // there is more
};

/// All under the lock of the path, but for look(), end_sleep(), rests_on() and others_look(). Rules supplies Atomic<T>;
/// the model checker runs the same code with its own.
template <class Rules>
class BasicTurns {
 public:
  /// Another thread looks, or would if it had the lock. A thread that misses it works once more than it had to: so it
  /// needs no order.
  void look() noexcept {
    if (!looked_.load(std::memory_order_relaxed)) looked_.store(true, std::memory_order_relaxed);
  }

  /// Another thread is about to sleep, and looks once more after this. `arm` deals with what is there and arms the
  /// alarm; false: there was no end of it. Then this is false, and the thread has to be woken.
  template <class Arm>
  [[nodiscard]] bool begin_sleep(const Arm& arm) noexcept {
    sleepers_.fetch_add(1, kUnderLock);
    return make_armed(arm);
  }
  /// If one is taken for a sleeper for longer, the thread only arms the alarm: so it needs no order.
  void end_sleep() noexcept { sleepers_.fetch_sub(1, std::memory_order_relaxed); }

  /// Another thread, which looks, has dealt with messages. True: the alarm was armed for as many. It is to be disarmed,
  /// and the thread to be woken, which rests for a lease then.
  [[nodiscard]] bool disarms(std::uint32_t most_wakes) noexcept {
    if (!armed_.load(kUnderLock)) [[likely]]
      return false;
    if (++wakes_ < most_wakes || sleepers_.load(kUnderLock) != 0) return false;
    armed_.store(false, kUnderLock);
    return true;
  }

  /// The lease of the thread is over. True: others look, and it rests for another one. It has no need of the lock, for
  /// which it would have to wait, or make others wait: who fell asleep meanwhile has armed the alarm, which wakes it.
  [[nodiscard]] bool rests_on() noexcept { return looked_.exchange(false, std::memory_order_relaxed); }

  /// Whether others look, and nobody sleeps: then nobody needs this thread, unless the alarm woke it. It comes back
  /// after a lease, so it needs no order; who fell asleep and woke it is seen to sleep.
  [[nodiscard]] bool others_look() const noexcept {
    return looked_.load(std::memory_order_relaxed) && sleepers_.load(std::memory_order_relaxed) == 0;
  }

  /// The thread is awake. `went_off`: because the alarm woke it. `work_off` deals with what is there.
  template <class WorkOff, class Arm>
  [[nodiscard]] Next take(bool went_off, const WorkOff& work_off, const Arm& arm) noexcept {
    if (went_off) {
      armed_.store(false, kUnderLock);
      work_off();
    }
    const bool others_look = looked_.exchange(false, std::memory_order_relaxed);
    if (others_look && sleepers_.load(kUnderLock) == 0) return Next::rest;
    return make_armed(arm) ? Next::sleep : Next::again;
  }

 private:
  template <class Arm>
  [[nodiscard]] bool make_armed(const Arm& arm) noexcept {
    if (armed_.load(kUnderLock)) return true;
    wakes_ = 0;
    const bool armed = arm();
    armed_.store(armed, kUnderLock);
    return armed;
  }

  /// The lock orders what happens under it.
  static constexpr std::memory_order kUnderLock = std::memory_order_relaxed;

  template <class T>
  using Atomic = typename Rules::template Atomic<T>;
  Atomic<std::uint32_t> sleepers_{0};
  Atomic<bool> looked_{false};  // since the thread's last turn
  Atomic<bool> armed_{false};
  std::uint32_t wakes_ = 0;  // how often others have dealt with messages since then
};

}  // namespace baton::ucx
