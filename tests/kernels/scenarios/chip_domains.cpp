// Windows of chips in domains that overlap, nest and live side by side; and waits that nobody ends.
#include <algorithm>
#include <chrono>
#include <vector>

#include "chip_rank.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace baton::test {
namespace {

bool contains(const std::vector<int>& ranks, int rank) { return std::ranges::find(ranks, rank) != ranks.end(); }

/// All chips of the domain tell each other, once more.
void meet(ChipRank& chip, const Domain& domain, const Room<std::int32_t>& room, int round) {
  chip.run("talk:notify", {room.context(), room.at(), kAllRanks, 0, 1, kAdd});
  chip.run("talk:await", {room.context(), room.at(), 0, round * domain.size()});
}

}  // namespace

SCENARIO(ChipsAreInManyDomainsAtOnce, {.sizes = {4, 8}}) {
  const std::vector<std::vector<int>> sets = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 1, 2}, {3, 2, 1, 0}, {1, 3}};
  struct Live {
    Domain domain;
    Room<std::int32_t> room;
  };
  ChipRank chip(me);
  std::vector<Live> live;
  for (const std::vector<int>& set : sets) {
    if (!contains(set, me.rank())) continue;
    Domain domain = me.subset("overlap", set);
    Room<std::int32_t> room = chip.room<std::int32_t>(domain, "signals", 1);
    live.push_back({std::move(domain), std::move(room)});
  }
  for (int round = 1; round <= scaled(3); ++round) {
    for (const Live& one : live) meet(chip, one.domain, one.room, round);
    // Nobody begins the next round in one domain before all have ended this one.
    for (Live& one : live) one.domain.barrier();
  }
  me.barrier();
}

SCENARIO(ChipWindowsOfDomainsAreReleasedWithoutOrder, {.sizes = {2, 4}}) {
  ChipRank chip(me);
  std::vector<int> all;
  for (int rank = 0; rank < me.size(); ++rank) all.push_back(rank);
  for (int round = 0; round < scaled(5); ++round) {
    Domain first = me.subset("first", all);
    Domain second = me.subset("second", all);
    auto a = chip.room<std::int32_t>(second, "a", 1);
    auto b = chip.room<std::int32_t>(first, "b", 1);
    // Each rank lets go of one in its own order, while others still use theirs.
    const bool is_even = (me.rank() + round) % 2 == 0;
    meet(chip, first, b, 1);
    meet(chip, second, a, 1);
    (is_even ? a : b).release();
    if (is_even) {
      first = Domain();
    } else {
      second = Domain();
    }
  }
  me.barrier();
}

// The wait of a graph that nobody ends is an error at its deadline with the name of the signal, and the chip goes on.
SCENARIO(AGraphThatWaitsInVainEndsAtItsDeadline, {.sizes = {2}, .wait_timeout = "1s"}) {
  ChipRank chip(me);
  const auto room = chip.room<std::int32_t>(me, "never", 4);
  if (me.rank() == 0) {
    for (int again = 0; again < 2; ++again) {
      require_error(Code::wait_timeout, {"never", "3", "has 0"}, [&] {
        chip.run_when(room.signal(2), 3, "talk:notify", {room.context(), room.at(), 1, 0, 1, kAdd});
      });
    }
    chip.run("talk:notify", {room.context(), room.at(), 0, 2, 3, kAdd});
    chip.run_when(room.signal(2), 3, "talk:notify", {room.context(), room.at(), 1, 0, 1, kAdd});
  }
  me.barrier(std::chrono::seconds(60));
  if (me.rank() == 1) REQUIRE_EQUAL(room.read()[0], 1);
  me.barrier(std::chrono::seconds(60));
}

}  // namespace baton::test
