// The one way to wait. A waiter tests; runs another fiber if there is one; spins while processors are free; yields
// while they are not; and only then sleeps on a doorbell.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>

#include "base/deadline.hpp"
#include "base/doorbell.hpp"
#include "base/function_ref.hpp"

namespace baton {

/// Whether everybody who takes part in the waiting can have a processor at the same time.
enum class Crowding : std::uint8_t {
  spare,    // all of them
  crowded,  // not all, but the one that will end the wait may be running now
  packed,   // the wait cannot end before more of them have run than there are processors
};

/// Who looks in a waiter's place, while it sleeps, for what ends its wait and rings nobody by itself.
class Lookout {
 public:
  Lookout() = default;
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;
  /// A thread is about to sleep, and tests once more after this.
  virtual void begin_looking() noexcept = 0;
  /// It does not sleep any more.
  virtual void end_looking() noexcept = 0;

 protected:
  ~Lookout() = default;
};

/// Where a waiter sleeps, and how long it is worth staying awake before.
struct ParkingPlace {
  Doorbell* doorbell;
  FutexScope scope;
  Crowding crowding;
  /// Those who take part have processors that no other thread of their job wants: one that loses its own has lost it to
  /// strangers. Then it sleeps for a while where it would stay awake, so as to be served first when it is woken.
  bool gives_way_to_strangers = false;
  /// Null: all that ends a wait rings.
  Lookout* lookout = nullptr;
};

/// For as long as a thread sleeps at `place`.
class LookedOutFor {
 public:
  explicit LookedOutFor(const ParkingPlace& place) noexcept : lookout_(place.lookout) {
    if (lookout_ != nullptr) lookout_->begin_looking();
  }
  LookedOutFor(const LookedOutFor&) = delete;
  LookedOutFor& operator=(const LookedOutFor&) = delete;
  ~LookedOutFor() {
    if (lookout_ != nullptr) lookout_->end_looking();
  }

 private:
  Lookout* lookout_;
};

/// Returns true once `test` holds, false if `deadline` passed first. `test` may be asked again after it held, and must
/// then still hold. It must read what it tests with sequentially consistent loads (see BasicDoorbell), and every
/// change of that must ring `place.doorbell`. `before_sleep` runs before each sleep, for records of what this thread
/// waits for; it must not wait itself. On a fiber only the fiber waits; its thread runs others.
[[nodiscard]] bool wait_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                              FunctionRef<void()> before_sleep);

/// Its last rung alone, for a thread that would take turns from those it waits for. Not on a fiber.
[[nodiscard]] bool park_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                              FunctionRef<void()> before_sleep);

/// What a thread remembers of others who had work for its processor.
class Strangers {
 public:
  /// The awake rungs of the ladder. After a turn was lost they are a moment: staying awake for longer uses up the share
  /// of the processor that lets a waiter be served first when it is woken. After ten times what was lost they are tried
  /// again.
  [[nodiscard]] bool stay_awake_until(FunctionRef<bool()> test, Crowding crowding);

 private:
  std::chrono::steady_clock::time_point until_{};
};

/// The awake rungs of the ladder, for a thread that has nothing else to do: true once `test` holds, false when staying
/// awake is no longer worth it.
[[nodiscard]] bool stay_awake_until(FunctionRef<bool()> test, Crowding crowding);

/// Its first rung alone: looks without giving the processor away.
[[nodiscard]] bool spin_until(FunctionRef<bool()> test, Crowding crowding);

/// Its rung of yields alone, in place. Where others have work, each yield takes milliseconds, and a waiter may have a
/// deadline: they end after `long_enough`, which by default is many times what all take between ranks alone.
template <class Test>
[[nodiscard]] bool yield_until(const Test& test, std::chrono::nanoseconds long_enough = std::chrono::milliseconds(10)) {
  using Clock = std::chrono::steady_clock;
  constexpr int kYields = 50;  // docs/investigations/waiting-ladder.md
  Clock::time_point begin;
  for (int i = 0; i < kYields; ++i) {
    ::sched_yield();
    if (test()) return true;
    const Clock::time_point now = Clock::now();
    if (i == 0) begin = now;
    if (now - begin > long_enough) return false;
  }
  return false;
}

/// Looks for so long as somebody who runs now on another processor may take to make `test` hold, and returns whether it
/// does; not where it may be another fiber of this thread. For callers that know that nobody else is missing.
bool look_for_a_moment(FunctionRef<bool()> test);

/// Crowding of `participants` that all want to run, on the processors of this process.
[[nodiscard]] Crowding crowding_of(std::size_t participants);

}  // namespace baton
