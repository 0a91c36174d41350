#include "base/parking.hpp"

#include "base/fiber.hpp"
#include "base/processors.hpp"

namespace baton {
namespace {

// Rungs of the ladder, chosen by measurement (docs/investigations/waiting-ladder.md).
constexpr int kSpinsWhenSpare = 4000;
constexpr int kSpinsWhenCrowded = 16;
constexpr int kLooksOfAMoment = 64;  // docs/investigations/small-collectives.md

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
  if (stay_awake_until(test, place.crowding)) return true;
  return park_until(place, test, deadline, before_sleep);
}

bool park_until(const ParkingPlace& place, FunctionRef<bool()> test, const Deadline& deadline,
                FunctionRef<void()> before_sleep) {
  const Deadline fixed = Deadline::at(deadline.when());
  while (true) {
    before_sleep();
    bool holds = false;
    place.doorbell->sleep_unless([&] { return holds = test(); }, fixed, place.scope);
    if (holds || test()) return true;
    if (fixed.passed()) return false;
  }
}

}  // namespace baton
