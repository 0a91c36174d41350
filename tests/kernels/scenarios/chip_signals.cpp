// Signals in windows of chips: notify, wait and test in kernels, and waits of graphs.
#include <limits>

#include "chip_rank.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace baton::test {
SCENARIO(ComparisonsInKernelsAreSigned, {.sizes = {1}}) {
  constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();
  // ==, !=, >, >=, <, <= of a signal below, equal to and above the value.
  constexpr float kHolds[3][6] = {{0, 1, 0, 0, 1, 1}, {1, 0, 0, 1, 0, 1}, {0, 1, 1, 1, 0, 0}};
  ChipRank chip(me);
  const auto room = chip.room<std::int32_t>(me, "signal", 1);
  Numbers out(chip, 6, "out");
  for (const std::int32_t value : {0, -1, 1000, kLowest + 1, kHighest - 1}) {
    for (int delta = -1; delta <= 1; ++delta) {
      chip.run("talk:notify", {room.context(), room.at(), 0, 0, value + delta, kSet});
      chip.run("talk:compare", {out, room.context(), room.at(), value});
      for (std::size_t i = 0; i < 6; ++i) REQUIRE_EQUAL(out[i], kHolds[delta + 1][i]);
    }
  }
}

SCENARIO(KernelsAddToAndSetEverySignalOfEveryRank, {.sizes = {1, 2, 3, 4, 5, 8}}) {
  constexpr std::size_t kCount = 10;
  ChipRank chip(me);
  const auto room = chip.room<std::int32_t>(me, "counters", kCount + 1);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto index = static_cast<std::int64_t>(i);
    chip.run("talk:notify", {room.context(), room.at(), kAllRanks, index, index - 5, kAdd});
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto index = static_cast<std::int64_t>(i);
    chip.run("talk:await", {room.context(), room.at(), index, me.size() * (index - 5)});
  }
  me.barrier();
  const int left = (me.rank() + me.size() - 1) % me.size();
  chip.run("talk:notify", {room.context(), room.at(), (me.rank() + 1) % me.size(), 3, -me.rank(), kSet});
  chip.run("talk:await", {room.context(), room.at(), 3, -left});
  me.barrier();
}

SCENARIO(ManyChipsAddToOneSignal, {.sizes = {2, 3, 8}}) {
  ChipRank chip(me);
  const auto room = chip.room<std::int32_t>(me, "sum", 1);
  chip.run("talk:add_to_one", {room.context(), room.at(), scaled(200)});
  me.barrier();
}

SCENARIO(APayloadIsSeenWithItsSignal, {.sizes = {2, 3, 4, 8}}) {
  constexpr std::size_t kCount = 200;
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "payload", kCount);
  const auto signals = chip.room<std::int32_t>(me, "signals", 2);
  Numbers line(chip, kCount, "line"), wrong(chip, 1, "wrong");
  chip.run("talk:hand_round", {line, wrong, room.context(), room.at(), signals.context(), signals.at(), scaled(50)});
  REQUIRE_EQUAL(wrong[0], 0.0F);
}

SCENARIO(FreshSignalsAreZeroHoweverOftenTheirNameIsUsed, {.sizes = {2, 4}}) {
  ChipRank chip(me);
  for (int round = 0; round < scaled(15); ++round) {
    const auto room = chip.room<std::int32_t>(me, "again", 4);
    for (const std::int32_t signal : room.read()) REQUIRE_EQUAL(signal, 0);
    // Nobody notifies before everybody has looked.
    me.barrier();
    chip.run("talk:notify", {room.context(), room.at(), (me.rank() + 1) % me.size(), 3, 1000 + round, kAdd});
    chip.run("talk:await", {room.context(), room.at(), 3, 1000 + round});
  }
}

// A kernel may notify as soon as its own rank has the window, while others still open theirs.
SCENARIO(NotificationsWhileAWindowIsOpenedAreKept, {.sizes = {2, 4, 8}}) {
  ChipRank chip(me);
  for (int round = 0; round < scaled(15); ++round) {
    const auto room = chip.room<std::int32_t>(me, "early", 1);
    chip.run("talk:notify", {room.context(), room.at(), kAllRanks, 0, 1, kAdd});
    chip.run("talk:await", {room.context(), room.at(), 0, me.size()});
  }
}

SCENARIO(AGraphWaitsForTheSignalOfAPeer, {.sizes = {1, 2, 3, 8}}) {
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "data", 8);
  const auto told = chip.room<std::int32_t>(me, "told", 1);
  Numbers in(chip, 8, "in"), out(chip, 8, "out");
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  for (int round = 1; round <= scaled(5); ++round) {
    for (std::size_t i = 0; i < 8; ++i) in[i] = static_cast<float>(100 * me.rank() + round);
    chip.run("talk:put", {in, room.context(), room.at(), right, 0});
    chip.run("talk:notify", {told.context(), told.at(), right, 0, 1, kAdd});
    chip.run_when(told.signal(0), round, "talk:get", {out, room.context(), room.at(), me.rank()});
    REQUIRE_EQUAL(out[7], static_cast<float>(100 * left + round));
    me.barrier();
  }
}

}  // namespace baton::test
