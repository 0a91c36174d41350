// Deadlines: every call that waits gives up when it said it would, with an error.
#include <chrono>
#include <vector>

#include "support/require.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using test::require_error;

/// How long `action` takes.
template <class Action>
std::chrono::nanoseconds time_of(Action&& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace

// A wait that cannot succeed must not come back as if it had.
SCENARIO(Trap5NoWaitGivesUpSilently, {.sizes = {2}, .wait_timeout = "200ms", .hostings = test::kOneHost}) {
  const Signals signals = me.signals("never", 1);
  for (const auto timeout : {std::chrono::nanoseconds(-5s), 0ns, 1ns, std::chrono::nanoseconds(30ms)}) {
    const auto taken = time_of([&] {
      require_error(Code::wait_timeout, {"has 0, needs >= 1"}, [&] { signals.wait(0, WaitCmp::ge, 1, timeout); });
    });
    REQUIRE(taken >= timeout);
  }
  // Without a timeout of its own: Options::wait_timeout.
  const auto taken = time_of([&] {
    require_error(Code::wait_timeout, {"waited 200 ms", "needs != 0"}, [&] { signals.wait(0, WaitCmp::ne, 0); });
  });
  REQUIRE(taken >= 200ms);
  // The signal did come meanwhile: no error, even with a deadline that has passed.
  signals.notify(me.rank(), 0);
  signals.wait(0, WaitCmp::ge, 1, 0ns);
  me.barrier(60s);
}

SCENARIO(AllocationThatAMemberMissesEndsAtItsDeadline,
         {.sizes = {3}, .wait_timeout = "300ms", .hostings = test::kOneHost}) {
  const std::vector<int> all = {0, 1, 2};
  const std::vector<int> pair = {0, 2};
  Domain others = me.rank() == 1 ? Domain() : me.subset("others", pair);
  if (me.rank() != 1) {
    const auto taken = time_of([&] {
      require_error(Code::wait_timeout, {"waited 300 ms", "the allocation of \"w\" (64 bytes) in \"world\"", "rank 1"},
                    [&] { static_cast<void>(me.raw_window("w", 64)); });
    });
    REQUIRE(taken >= 300ms);
    // What fails in one domain does not touch another.
    others.barrier(60s);
  }
  me.barrier(60s);
}

SCENARIO(BarrierThatAMemberMissesEndsAtItsDeadline,
         {.sizes = {2}, .wait_timeout = "200ms", .hostings = test::kOneHost}) {
  const Signals signals = me.signals("s", 1);
  if (me.rank() == 0) {
    const auto taken = time_of([&] {
      require_error(Code::wait_timeout, {"waited 200 ms", "rank 1 of 2 did not arrive"}, [&] { me.barrier(); });
    });
    REQUIRE(taken >= 200ms);
    signals.notify(1, 0);
  } else {
    signals.wait(0, WaitCmp::ge, 1, 60s);
  }
  me.barrier(60s);
  me.barrier(60s);
}

SCENARIO(EndlessTimeoutsAreAllowed, {.sizes = {2}}) {
  const Signals signals = me.signals("s", 1);
  me.barrier(std::chrono::nanoseconds::max());
  signals.notify(1 - me.rank(), 0);
  signals.wait(0, WaitCmp::ge, 1, std::chrono::nanoseconds::max());
  me.barrier(std::chrono::hours(24 * 365));
}
