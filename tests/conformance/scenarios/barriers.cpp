// Barriers: nobody leaves one that somebody has not reached.
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "support/reach.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using test::require_error;

/// Sometimes a rank is late: by a moment, or by long enough for all others to sleep.
void dawdle(std::mt19937& random) {
  switch (random() % 64) {
    case 0: std::this_thread::sleep_for(std::chrono::microseconds(random() % 300)); break;
    case 1:
    case 2: std::this_thread::yield(); break;
    default: break;
  }
}

}  // namespace

// Every rank counts its rounds where all can see it. After a barrier no counter may be behind one's own, and before the
// next one none may be ahead by more than one.
SCENARIO(Trap1BarrierLosesNoArrival, {.sizes = {2, 3, 5, 16}, .wait_timeout = "30s"}) {
  const auto rounds_of = me.window<int>("rounds", 1);
  std::mt19937 random(static_cast<unsigned>(me.rank()));
  const int rounds = test::scaled(30'000 / me.size());
  for (int round = 1; round <= rounds; ++round) {
    dawdle(random);
    std::atomic_ref(rounds_of[0]).store(round, std::memory_order_relaxed);
    me.barrier();
    for (int rank = 0; rank < me.size(); ++rank) {
      const int theirs = test::load_from(rounds_of, rank, 0);
      REQUIRE(theirs >= round);
      REQUIRE(theirs <= round + 1);
    }
  }
  me.barrier();
}

SCENARIO(BarriersOrderPlainWrites, {.sizes = {2, 4}}) {
  const auto data = me.window<int>("data", 512);
  const int rounds = test::scaled(2000);
  for (int round = 1; round <= rounds; ++round) {
    const int right = (me.rank() + 1) % me.size();
    test::fill_part(data, right, round);
    me.barrier();
    for (const int value : data) REQUIRE_EQUAL(value, round);
    me.barrier();
  }
}

SCENARIO(BarrierOfTwoThreadsIsAnError, {.sizes = {2}, .hostings = {test::Hosting::threads, test::Hosting::processes}}) {
  const Signals go = me.signals("go", 1);
  if (me.rank() == 1) {
    go.wait(0, WaitCmp::ge, 1);
    me.barrier();
  } else {
    {
      std::jthread other([&] { me.barrier(); });
      while (go.activity_of(0).find("barrier 1 of \"world\"") == std::string::npos) std::this_thread::yield();
      require_error(Code::in_flight, {"rank 0 called barrier() on \"world\" while another thread"},
                    [&] { me.barrier(); });
      go.notify(1, 0);
    }
  }
  // No arrival was lost, none counted twice.
  for (int i = 0; i < 100; ++i) me.barrier();
}

SCENARIO(BarrierWorksBeforeAnyWindow, {.sizes = {1, 4}}) {
  for (int i = 0; i < 100; ++i) me.barrier();
}

SCENARIO(BarrierTimeoutNamesTheMissingAndCanBeRepeated, {.sizes = {3}, .hostings = test::kOneHost}) {
  const Signals told = me.signals("told", 1);
  if (me.rank() == 1) {
    // Arrives only after both others have given up once.
    told.wait(0, WaitCmp::ge, 2);
  } else {
    // The other one may not be inside yet.
    const Error error = require_error(Code::wait_timeout, {"barrier 1 of \"world\"", "1 of 3 did not arrive", "20 ms"},
                                      [&] { me.barrier(20ms); });
    REQUIRE(!error.notes().empty());
    told.notify(1, 0);
  }
  // A barrier that was given up counts as not arrived: all can try again, as often as they like.
  for (int i = 0; i < 20; ++i) me.barrier();
}

SCENARIO(BarrierTimeoutNamesOneMissingRank, {.sizes = {4}, .hostings = test::kOneHost}) {
  const Signals done = me.signals("done", 1);
  if (me.rank() == 2) {
    done.wait(0, WaitCmp::ge, 3);
  } else {
    // A second is enough for the others to come, too.
    const Error error = require_error(Code::wait_timeout, {"rank 2 of 4 did not arrive"}, [&] { me.barrier(1s); });
    // The first who gives up also tells what all others wait for.
    REQUIRE(!error.notes().empty());
    REQUIRE(error.notes().size() == 1 || error.notes()[1] == "all ranks of the job:");
    REQUIRE(error.notes()[0].starts_with("rank 2"));
    REQUIRE(error.notes()[0].find("has waited for signal 0 of \"done\" >= 3") != std::string::npos);
    done.notify(2, 0);
  }
  me.barrier();
}

SCENARIO(BarrierGivenUpByOneIsStillMetByAll, {.sizes = {4}}) {
  // Whatever the timing, each round is one barrier for everybody: some give up and come again.
  const auto round_of = me.window<int>("round", 1);
  std::mt19937 random(static_cast<unsigned>(me.rank()));
  const int rounds = test::scaled(300);
  for (int round = 1; round <= rounds; ++round) {
    std::atomic_ref(round_of[0]).store(round, std::memory_order_relaxed);
    for (int attempt = 0;; ++attempt) {
      dawdle(random);
      try {
        me.barrier(attempt < 3 ? std::chrono::nanoseconds(random() % 20'000) : 60s);
        break;
      } catch (const Error& error) {
        if (error.code() != Code::wait_timeout || attempt >= 3) throw;
      }
    }
    for (int rank = 0; rank < me.size(); ++rank) {
      const int theirs = test::load_from(round_of, rank, 0);
      REQUIRE(theirs == round || theirs == round + 1);
    }
  }
  me.barrier();
}

SCENARIO(ManyBarriersInARow, {.sizes = {4}}) {
  const int count = test::scaled(3000);
  for (int i = 0; i < count; ++i) me.barrier();
}

SCENARIO(HundredThousandBarriersInARow, {.sizes = {4}, .hostings = {test::Hosting::processes}}) {
  const int count = test::scaled(100'000);
  for (int i = 0; i < count; ++i) me.barrier();
}
