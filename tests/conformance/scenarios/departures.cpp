// Ranks that leave or fail while others go on.
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using test::require_error;

}  // namespace

SCENARIO(BarrierWithoutALeaverIsAnError, {.sizes = {3}}) {
  const Signals signals = me.signals("s", 1);
  if (me.rank() == 1) return;
  require_error(Code::peer_left, {"barrier 1 of \"world\"", "rank 1 of \"world\" has left"}, [&] { me.barrier(); });
  // The others are still there, and a signal may come from any of them.
  signals.notify(2 - me.rank(), 0);
  signals.wait(0, WaitCmp::ge, 1);
  require_error(Code::peer_left, {"the allocation of \"w\"", "rank 1"},
                [&] { static_cast<void>(me.raw_window("w", 8)); });
}

SCENARIO(WaitingForNobodyIsAnError, {.sizes = {3}}) {
  const Signals signals = me.signals("s", 1);
  if (me.rank() != 0) return;
  const Error error =
      require_error(Code::peer_left, {"signal 0 of \"s\" >= 1", "has left"}, [&] { signals.wait(0, WaitCmp::ge, 1); });
  REQUIRE_EQUAL(error.notes().size(), 2U);
}

SCENARIO(ADomainWithoutTheLeaverGoesOn, {.sizes = {4}}) {
  const int some[3] = {0, 1, 3};
  if (me.rank() == 2) return;
  Domain domain = me.subset("rest", some);
  const Signals signals = domain.signals("s", 1);
  for (int round = 1; round <= test::scaled(100); ++round) {
    signals.notify((domain.rank() + 1) % 3, 0);
    signals.wait(0, WaitCmp::ge, round);
    domain.barrier();
  }
}

SCENARIO(AFailureReachesThoseWhoWait, {.sizes = {3}, .hostings = {test::Hosting::threads, test::Hosting::processes}}) {
  Signals signals = me.signals("s", 1);
  if (me.rank() == 2) {
    try {
      // The last handles go while the exception travels.
      const Domain last_domain = std::exchange(me, Domain());
      const Signals last_signals = std::exchange(signals, Signals());
      throw std::runtime_error("this rank fails on purpose");
    } catch (const std::runtime_error&) {
      return;
    }
  }
  require_error(Code::peer_died, {"signal 0 of \"s\"", "rank 2 of \"world\" died", "it threw an error"},
                [&] { signals.wait(0, WaitCmp::ge, 1); });
  require_error(Code::peer_died, {"barrier", "rank 2"}, [&] { me.barrier(); });
  require_error(Code::peer_died, {"allocation", "rank 2"}, [&] { static_cast<void>(me.raw_window("w", 8)); });
}

// What a rank did before it left counts: a notify, an arrival. Rank 2 leaves first, so that the others already look
// who has gone while rank 1 acts and leaves at once.
SCENARIO_BEFORE_JOIN(LastWordsAreHeard,
                     {.sizes = {3}, .hostings = {test::Hosting::threads, test::Hosting::processes}}) {
  const int rounds = test::scaled(me.rendezvous.starts_with("inproc:") ? 1500 : 100);
  for (int round = 0; round < rounds; ++round) {
    Domain domain = test::join_and_tell({me.rank, me.size, me.rendezvous + "." + std::to_string(round)});
    const Signals signals = domain.signals("s", 1);
    const int pair_ranks[2] = {0, 1};
    if (me.rank == 2) continue;
    Domain pair = domain.subset("pair", pair_ranks);
    if (round % 2 == 0) {
      pair.barrier();
    } else if (me.rank == 1) {
      signals.notify(0, 0);
    } else {
      signals.wait(0, WaitCmp::ge, 1);
    }
  }
}

SCENARIO(LeavingEndsTheOwnWaits, {.sizes = {2}, .hostings = {test::Hosting::threads, test::Hosting::processes}}) {
  const Signals signals = me.signals("s", 1);
  if (me.rank() == 1) {
    require_error(Code::peer_died, {"rank 0", "given up"}, [&] { signals.wait(0, WaitCmp::ge, 1); });
    return;
  }
  std::thread leaver([&] { me.leave_because("given up"); });
  require_error(Code::peer_left, {"rank 0 waited for signal 0 of \"s\" >= 1, but it has left the job itself"},
                [&] { signals.wait(0, WaitCmp::ge, 1); });
  leaver.join();
  require_error(Code::peer_left, {"it has left the job itself"}, [&] { me.barrier(); });
}
