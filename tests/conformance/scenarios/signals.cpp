// Signals: notify, wait and test.
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include "support/reach.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using test::require_error;

struct Comparison {
  WaitCmp comparison;
  const char* symbol;
  std::array<bool, 3> holds;  // for a signal below, equal to and above the value
};
constexpr std::array<Comparison, 6> kComparisons = {{
    {WaitCmp::eq, "==", {false, true, false}},
    {WaitCmp::ne, "!=", {true, false, true}},
    {WaitCmp::gt, ">", {false, false, true}},
    {WaitCmp::ge, ">=", {false, true, true}},
    {WaitCmp::lt, "<", {true, false, false}},
    {WaitCmp::le, "<=", {true, true, false}},
}};
constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();

}  // namespace

SCENARIO(AllComparisonsAreSigned, {.sizes = {2}}) {
  const Signals signals = me.signals("s", 1);
  const int self = me.rank();
  for (const std::int32_t value : {0, 1, -1, 1000, -1000, kLowest + 1, kHighest - 1}) {
    for (int delta = -1; delta <= 1; ++delta) {
      signals.notify(self, 0, value + delta, NotifyOp::set);
      for (const Comparison& c : kComparisons) {
        const bool expected = c.holds[static_cast<std::size_t>(delta + 1)];
        REQUIRE(signals.test(0, c.comparison, value) == expected);
        if (expected) {
          signals.wait(0, c.comparison, value);
        } else {
          require_error(Code::wait_timeout, {c.symbol, std::to_string(value), std::to_string(value + delta)},
                        [&] { signals.wait(0, c.comparison, value, 1us); });
        }
      }
    }
  }
  me.barrier();
}

SCENARIO(AddAndSetWorkOnEverySignalOfEveryRank, {}) {
  constexpr std::size_t kCount = 100;
  const Signals signals = me.signals("counters", kCount);
  REQUIRE_EQUAL(signals.size(), kCount);
  for (int rank = 0; rank < me.size(); ++rank) {
    for (std::size_t i = 0; i < kCount; ++i) signals.notify(rank, i, static_cast<std::int32_t>(i) - 50);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::int32_t sum = me.size() * (static_cast<std::int32_t>(i) - 50);
    signals.wait(i, WaitCmp::eq, sum);
  }
  me.barrier();
  signals.notify((me.rank() + 1) % me.size(), 3, -me.rank(), NotifyOp::set);
  const int left = (me.rank() + me.size() - 1) % me.size();
  signals.wait(3, WaitCmp::eq, -left);
  me.barrier();
}

SCENARIO(AddWrapsRound, {.sizes = {2}}) {
  const Signals signals = me.signals("s", 1);
  signals.notify(me.rank(), 0, kHighest, NotifyOp::set);
  signals.notify(me.rank(), 0, 1);
  REQUIRE(signals.test(0, WaitCmp::eq, kLowest));
  me.barrier();
}

SCENARIO(ManyRanksAddToOneSignal, {.sizes = {2, 8}}) {
  const Signals signals = me.signals("sum", 1);
  const int rounds = test::scaled(2000);
  for (int i = 0; i < rounds; ++i) signals.notify(0, 0);
  if (me.rank() == 0) signals.wait(0, WaitCmp::eq, rounds * me.size());
  me.barrier();
}

SCENARIO(PingPongManyTimes, {.sizes = {2, 4}}) {
  const Signals signals = me.signals("ball", 1);
  const int rounds = test::scaled(2000);
  const int right = (me.rank() + 1) % me.size();
  for (int i = 1; i <= rounds; ++i) {
    if (me.rank() == 0) signals.notify(right, 0);
    signals.wait(0, WaitCmp::ge, i);
    if (me.rank() != 0) signals.notify(right, 0);
  }
  me.barrier();
}

// Payload first, then the signal: a rank that sees the signal sees the payload. Plain loads and stores of the payload,
// so that the signal alone orders them.
SCENARIO(Trap8PayloadIsSeenWithItsSignal, {.sizes = {2, 4}}) {
  constexpr std::size_t kWords = 64;
  const auto data = me.window<std::uint32_t>("data", kWords);
  const Signals full = me.signals("full", 1);
  const Signals empty = me.signals("empty", 1);
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  const int rounds = test::scaled(5000);
  for (int round = 1; round <= rounds; ++round) {
    const auto mark = static_cast<std::uint32_t>(round);
    test::fill_part(data, right, mark);
    full.notify(right, 0);
    full.wait(0, WaitCmp::ge, round);
    for (std::size_t i = 0; i < kWords; ++i) {
      if (data[i] != mark) throw test::CheckFailed(fmt::format("round {}: word {} is still {}", round, i, data[i]));
    }
    empty.notify(left, 0);
    empty.wait(0, WaitCmp::ge, round);
  }
}

// The same without a rhythm: the writer runs ahead, the reader follows at its heels. Each payload has a cache line of
// its own, so that lines travel between processors in any order that the signal does not forbid.
SCENARIO(Trap8SignalsDoNotOvertakePayloads,
         {.sizes = {2}, .hostings = {test::Hosting::threads, test::Hosting::processes}}) {
  constexpr int kLines = 64;
  constexpr std::size_t kWordsPerLine = 64;
  const auto data = me.window<std::int32_t>("data", kLines * kWordsPerLine);
  const Signals signals = me.signals("signals", 1);
  const auto slot = [&](int round) { return static_cast<std::size_t>(round % kLines) * kWordsPerLine; };
  const int rounds = test::scaled(2'000'000);
  for (int round = 1; round <= rounds; ++round) {
    if (me.rank() == 1) {
      test::store_to(data, 0, slot(round), round);
      signals.notify(0, 0);
    } else {
      signals.wait(0, WaitCmp::ge, round);
      const std::int32_t seen = std::atomic_ref(data[slot(round)]).load(std::memory_order_relaxed);
      if (seen < round) throw test::CheckFailed(fmt::format("round {}: the payload is still {}", round, seen));
    }
  }
  me.barrier();
}

SCENARIO(PutSignalArrivesAfterItsBytes, {.sizes = {2, 4}}) {
  const RawWindow data = me.raw_window("data", 4096);
  const RawWindow signals = me.raw_window("signals", 64);
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  const int rounds = test::scaled(2000);
  std::array<std::int32_t, 256> block{};
  for (int round = 1; round <= rounds; ++round) {
    block.fill(round);
    data.put_signal(right, 128, block.data(), sizeof block, signals, 8);
    signals.wait(8, WaitCmp::ge, round);
    const auto* seen = reinterpret_cast<const std::int32_t*>(data.local() + 128);
    REQUIRE_EQUAL(seen[0], round);
    REQUIRE_EQUAL(seen[255], round);
    signals.notify(left, 16);
    signals.wait(16, WaitCmp::ge, round);
  }
  data.put_signal(right, 0, block.data(), 4, signals, 32, -7, NotifyOp::set);
  signals.wait(32, WaitCmp::eq, -7);
  // A typed window counts in elements and signals.
  const Window<double> typed = me.window<double>("typed", 8);
  const Signals counted = me.signals("counted", 4);
  typed.put_signal(right, 5, 2.5, counted, 3);
  counted.wait(3, WaitCmp::ge, 1);
  REQUIRE_EQUAL(typed[5], 2.5);
  const int self[1] = {me.rank()};
  Domain alone = me.subset("alone", self);
  const RawWindow elsewhere = alone.raw_window("elsewhere", 64);
  require_error(Code::invalid_argument, {"different domains", "\"data\"", "\"elsewhere\""},
                [&] { data.put_signal(0, 0, block.data(), 4, elsewhere, 0); });
  me.barrier();
}

// A wait for >= 1 that is used twice must name the next value; a fresh window of the same name and size starts at zero.
SCENARIO(Trap2FreshSignalsAreZeroHoweverOftenTheNameIsUsed, {.sizes = {2, 4}}) {
  const int rounds = test::scaled(150);
  for (int round = 0; round < rounds; ++round) {
    Signals signals = me.signals("again", 16);
    for (std::size_t i = 0; i < 16; ++i) REQUIRE(signals.test(i, WaitCmp::eq, 0));
    require_error(Code::wait_timeout, {"has 0, needs >= 1"}, [&] { signals.wait(15, WaitCmp::ge, 1, 0ns); });
    // Nobody notifies before everybody has looked.
    me.barrier();
    for (std::size_t i = 0; i < 16; ++i) signals.notify((me.rank() + 1) % me.size(), i, 1000 + round);
    signals.wait(15, WaitCmp::eq, 1000 + round);
    signals.release();
  }
}

SCENARIO(Trap2EpochsPassOncePerNotify, {.sizes = {2}}) {
  const Signals signals = me.signals("epochs", 2);
  const auto data = me.window<int>("data", 1);
  const int rounds = test::scaled(1000);
  const int other = 1 - me.rank();
  for (int epoch = 1; epoch <= rounds; ++epoch) {
    if (me.rank() == 0) {
      test::store_to(data, other, 0, epoch);
      signals.notify(other, 0);
      signals.wait(1, WaitCmp::ge, epoch);
      // The second epoch has not come: what the first left in the signal must not let it pass.
      REQUIRE(!signals.test(1, WaitCmp::ge, epoch + 1));
    } else {
      signals.wait(0, WaitCmp::ge, epoch);
      REQUIRE_EQUAL(data[0], epoch);
      REQUIRE(!signals.test(0, WaitCmp::ge, epoch + 1));
      signals.notify(other, 1);
    }
  }
  me.barrier();
}

// A rank may notify as soon as its own allocation call returns, while others are still inside theirs.
SCENARIO(Trap3NotificationsDuringAllocationAreKept, {.sizes = {2, 4}}) {
  const int rounds = test::scaled(500);
  for (int round = 0; round < rounds; ++round) {
    const Signals signals = me.signals("early", 4);
    for (int rank = 0; rank < me.size(); ++rank) signals.notify(rank, 0);
    signals.wait(0, WaitCmp::eq, me.size());
  }
}
