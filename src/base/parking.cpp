#include "base/parking.hpp"

#include "base/fiber.hpp"
#include "base/processors.hpp"

namespace baton {
namespace {

// Rungs of the ladder, chosen by measurement (docs/investigations/waiting-ladder.md).
constexpr int kSpinsWhenSpare = 4000;
constexpr int kSpinsWhenCrowded = 16;
constexpr int kLooksOfAMoment = 64;  // docs/investigations/small-collectives.md

/// Yields that take longer went to somebody who had work for a whole turn of the scheduler. 50 of them take less where
/// nobody else wants the processor.
constexpr std::chrono::microseconds kLostTurn{200};
/// One that takes longer went to somebody; without anybody it returns at once.
constexpr std::chrono::microseconds kGivenAway{5};
/// For this many times what was lost a thread sleeps soon; then it tries again whether strangers still have work.
constexpr int kTurnsOfSleep = 10;

int spins(Crowding crowding) noexcept {
  switch (crowding) {
    case Crowding::spare: return kSpinsWhenSpare;
    case Crowding::crowded: return kSpinsWhenCrowded;
    case Crowding::packed: break;
  }
  return 0;
}

void relax() noexcept {
#if defined(__aarch64__)
  // `isb` stalls for about as long as x86's `pause`; `yield` is a no-op on most cores.
  asm volatile("isb" ::: "memory");
#elif defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Crowding crowding_of(std::size_t participants) {
  return participants <= static_cast<std::size_t>(usable_processors()) ? Crowding::spare : Crowding::crowded;
}

bool spin_until(FunctionRef<bool()> test, Crowding crowding) {
  if (test()) return true;
  for (int i = spins(crowding); i > 0; --i) {
    if (test()) return true;
    relax();
  }
  return false;
}

bool stay_awake_until(FunctionRef<bool()> test, Crowding crowding) {
  return spin_until(test, crowding) || yield_until(test);
}

bool Strangers::stay_awake_until(FunctionRef<bool()> test, Crowding crowding) {
  using Clock = std::chrono::steady_clock;
  if (until_ != Clock::time_point{}) {
    if (Clock::now() < until_) return look_for_a_moment(test);
    until_ = {};
  }
  if (spin_until(test, crowding)) return true;
  const Clock::time_point begin = Clock::now();
  int yields = 0;
  const bool held = yield_until([&] { return ++yields, test(); }, kLostTurn);
  const Clock::time_point end = Clock::now();
  if (end - begin > kLostTurn) {
    until_ = end + kTurnsOfSleep * (end - begin);
  } else if (held && yields == 1 && end - begin > kGivenAway) {
    // It was waiting for this very processor while this thread spun: strangers have the one that would be its own.
    until_ = end + kTurnsOfSleep * kLostTurn;
  }
  return held;
}

bool look_for_a_moment(FunctionRef<bool()> test) {
  if (!alone_on_thread()) return false;
  for (int i = 0; i < kLooksOfAMoment; ++i) {
    if (test()) return true;
    relax();
  }
  return false;
}

bool wait_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                FunctionRef<void()> before_sleep) {
  if (on_fiber()) return fiber_wait_until(place, test, deadline, before_sleep);
  thread_local Strangers strangers;
  const bool held = place.gives_way_to_strangers ? strangers.stay_awake_until(test, place.crowding)
                                                 : stay_awake_until(test, place.crowding);
  if (held) return true;
  return park_until(place, test, deadline, before_sleep);
}

bool park_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                FunctionRef<void()> before_sleep) {
  const Deadline fixed = Deadline::at(deadline.when());
  const LookedOutFor looked_out_for(place);
  while (true) {
    before_sleep();
    bool holds = false;
    place.doorbell->sleep_unless([&] { return holds = test(); }, fixed, place.scope);
    if (holds || test()) return true;
    if (fixed.passed()) return false;
  }
}

}  // namespace baton
