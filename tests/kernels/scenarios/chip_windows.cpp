// Windows of chips: what they are when they are new, what puts and gets of kernels do to them, and how they end.
#include <algorithm>
#include <vector>

#include "chip_rank.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace baton::test {
namespace {

const Wishes kAllSizes{.sizes = {1, 2, 3, 4, 5, 8}};

float pattern(int rank, std::size_t i) { return static_cast<float>(1000 * (rank + 1) + static_cast<int>(i % 251)); }

std::vector<float> pattern_of(int rank, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = pattern(rank, i);
  return numbers;
}

}  // namespace

SCENARIO(ChipWindowsAreZeroAndEveryRankReachesAll, kAllSizes) {
  ChipRank chip(me);
  for (const std::size_t count : {std::size_t{1}, std::size_t{64}, std::size_t{5'001}}) {
    const auto room = chip.room<float>(me, "fresh", count);
    for (const float number : room.read()) REQUIRE_EQUAL(number, 0.0F);
    room.write(pattern_of(me.rank(), count));
    me.barrier();
    Numbers all(chip, count * static_cast<std::size_t>(me.size()), "all");
    chip.run("talk:get_all", {all, room.context(), room.at()});
    for (int rank = 0; rank < me.size(); ++rank) {
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE_EQUAL(all[static_cast<std::size_t>(rank) * count + i], pattern(rank, i));
      }
    }
    me.barrier();
  }
}

SCENARIO(PutsOfKernelsMoveExactlyTheirNumbers, kAllSizes) {
  constexpr std::size_t kCount = 3'000;
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "numbers", kCount);
  const int right = (me.rank() + 1) % me.size();
  const int left = (me.rank() + me.size() - 1) % me.size();
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{1'025}}) {
    Numbers in(chip, count, "in");
    for (std::size_t i = 0; i < count; ++i) in[i] = pattern(me.rank(), i);
    for (const std::size_t first : {std::size_t{0}, std::size_t{3}, std::size_t{1'024}, kCount - count}) {
      room.write(std::vector<float>(kCount));
      me.barrier();
      chip.run("talk:put", {in, room.context(), room.at(), right, static_cast<std::int64_t>(first)});
      me.barrier();
      std::vector<float> expected(kCount);
      for (std::size_t i = 0; i < count; ++i) expected[first + i] = pattern(left, i);
      REQUIRE(room.read() == expected);
      me.barrier();
    }
  }
}

SCENARIO(KernelsKnowEveryWindow, {.sizes = {1, 2, 4, 8}, .hostings = kOneHost}) {
  ChipRank chip(me);
  std::vector<int> reversed;
  for (int rank = me.size(); rank-- > 0;) reversed.push_back(rank);
  for (const Domain& domain : {me, me.subset("reversed", reversed)}) {
    const auto room = chip.room<float>(domain, "known", 100);
    Numbers out(chip, 5, "out");
    chip.run("talk:look_at_context", {out, room.context(), room.at()});
    REQUIRE_EQUAL(out[0], static_cast<float>(domain.rank()));
    REQUIRE_EQUAL(out[1], static_cast<float>(domain.size()));
    REQUIRE_EQUAL(out[2], 400.0F);
    REQUIRE_EQUAL(out[3], 1.0F);
    REQUIRE_EQUAL(out[4], static_cast<float>(domain.size()));
    me.barrier();
  }
}

SCENARIO(ChipWindowsComeAndGo, {.sizes = {2, 4, 8}}) {
  ChipRank chip(me);
  Numbers in(chip, 64, "in");
  for (int round = 0; round < scaled(20); ++round) {
    auto room = chip.room<float>(me, "again", 1'000);
    for (const float number : room.read()) REQUIRE_EQUAL(number, 0.0F);
    // Nobody puts before everybody has looked.
    me.barrier();
    chip.run("talk:put", {in, room.context(), room.at(), (me.rank() + 1) % me.size(), 5});
    if (round % 2 == 0) room.release();
  }
}

// A rank lets go of a window while others still use theirs.
SCENARIO(PeersKeepTheirPartOfAWindowThatIsReleased, {.sizes = {2, 3, 8}}) {
  ChipRank chip(me);
  auto room = chip.room<float>(me, "kept", 64);
  room.write(pattern_of(me.rank(), 64));
  me.barrier();
  if (me.rank() == 1) room.release();
  me.barrier();
  if (me.rank() != 1) {
    REQUIRE(room.read() == pattern_of(me.rank(), 64));
    Numbers in(chip, 4, "in");
    in[3] = 77;
    chip.run("talk:put", {in, room.context(), room.at(), me.rank(), 8});
    REQUIRE_EQUAL(room.read()[11], 77.0F);
  }
  me.barrier();
}

SCENARIO(DifferentSizesOfAChipWindowAreAnErrorOfEveryRank, {.sizes = {2, 4}}) {
  ChipRank chip(me);
  const std::size_t count = me.rank() == me.size() - 1 ? 32 : 16;
  require_error(Code::mismatch, {"\"uneven\""}, [&] { static_cast<void>(chip.room<float>(me, "uneven", count)); });
  // What failed is over at every rank.
  const auto room = chip.room<float>(me, "next", 16);
  for (const float number : room.read()) REQUIRE_EQUAL(number, 0.0F);
  me.barrier();
}

}  // namespace baton::test
