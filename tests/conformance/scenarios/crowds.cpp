// More ranks than processors.
#include <numeric>

#include "support/reach.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;

// The thread sanitizer keeps megabytes for each fiber.
#if defined(BATON_SANITIZE_THREAD)
constexpr int kManyFibers = 150;
#else
constexpr int kManyFibers = 1100;
#endif

/// Hands a token round the ranks, downwards: on every step a rank that waits for it must get a processor.
void relay(Domain me, int laps) {
  const Signals token = me.signals("token", 1);
  const int next = (me.rank() + me.size() - 1) % me.size();
  for (int lap = 1; lap <= laps; ++lap) {
    if (me.rank() == 0) token.notify(next, 0);
    token.wait(0, WaitCmp::ge, lap);
    if (me.rank() != 0) token.notify(next, 0);
  }
  me.barrier();
}

/// Every rank adds to every other, then sums what came.
void sum(Domain me) {
  const auto parts = me.window<int>("parts", static_cast<std::size_t>(me.size()));
  const Signals arrived = me.signals("arrived", 1);
  for (int round = 1; round <= 3; ++round) {
    for (int rank = 0; rank < me.size(); ++rank) {
      test::store_to(parts, rank, static_cast<std::size_t>(me.rank()), me.rank() + round);
      arrived.notify(rank, 0);
    }
    arrived.wait(0, WaitCmp::ge, round * me.size());
    REQUIRE_EQUAL(std::accumulate(parts.begin(), parts.end(), 0), me.size() * (me.size() - 1) / 2 + round * me.size());
    me.barrier();
  }
}

}  // namespace

SCENARIO(Trap12RanksWithoutAProcessorGetTheirTurn, {.sizes = {24}}) {
  relay(me, test::scaled(200));
  sum(me);
}

SCENARIO(Trap12ThousandFibersShareOneThread,
         {.sizes = {kManyFibers}, .hostings = {test::Hosting::one_fiber_thread, test::Hosting::two_fiber_threads}}) {
  relay(me, 2);
  for (int i = 0; i < 3; ++i) me.barrier();
}

SCENARIO(SixtyFourProcesses, {.sizes = {64}, .hostings = {test::Hosting::processes}}) {
  for (int i = 0; i < test::scaled(100); ++i) me.barrier();
  sum(me);
}
