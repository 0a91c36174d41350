// Collectives as raw kernels, over sizes that nothing divides, again and again in the same window.
#include "chip_rank.hpp"
#include "support/require.hpp"
#include "support/scenario.hpp"

namespace baton::test {
namespace {

constexpr std::size_t kCounts[] = {1, 7, 256, 1000, 4099};
constexpr std::size_t kLargest = 4099;
constexpr int kRounds = 3;

const Wishes kManySizes{.sizes = {2, 3, 4, 8, 16}};

/// Small enough that sums of all ranks are exact.
float input(std::size_t i, int rank, int round) {
  return static_cast<float>(i % 1000) + static_cast<float>(100 * rank + round);
}

/// Every size in the same window, whose first `floats` are the kernel's; each size has signals of its own, as they
/// count up for ever.
void allreduce(Domain me, const char* kernel, std::size_t floats, std::size_t signal_count) {
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "window", floats + signal_count * std::size(kCounts));
  std::size_t signals = floats;
  for (const std::size_t count : kCounts) {
    Numbers in(chip, count, "in"), out(chip, count, "out");
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < count; ++i) in[i] = input(i, me.rank(), round);
      chip.run(kernel, {in, out, room.context(), room.at(), room.at(signals), round});
      for (std::size_t i = 0; i < count; ++i) {
        float sum = 0;
        for (int rank = 0; rank < me.size(); ++rank) sum += input(i, rank, round);
        REQUIRE_EQUAL(out[i], sum);
      }
    }
    signals += signal_count;
  }
}

}  // namespace

/// Part p of rank r's input ends as part r of rank p's output.
void all_to_all(const Domain& me, const char* kernel, std::size_t part) {
  const auto ranks = static_cast<std::size_t>(me.size());
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "window", ranks * part + 2);
  Numbers in(chip, ranks * part, "in"), out(chip, ranks * part, "out");
  const auto sent = [&](int from, int to, std::size_t i, int round) {
    return static_cast<float>(1000 * from + 100 * to + static_cast<int>(i % 97) + 7 * round);
  };
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = sent(me.rank(), static_cast<int>(i / part), i % part, round);
    chip.run(kernel, {in, out, room.context(), room.at(), room.at(ranks * part), round});
    for (std::size_t i = 0; i < out.size(); ++i) {
      REQUIRE_EQUAL(out[i], sent(static_cast<int>(i / part), me.rank(), i % part, round));
    }
  }
}

SCENARIO(AllreduceOnePhase, kManySizes) { allreduce(me, "allreduce_onephase", kLargest, 1); }

SCENARIO(AllreduceTwoPhase, kManySizes) { allreduce(me, "allreduce_twophase", kLargest, 1); }

SCENARIO(AllreduceRing, kManySizes) {
  const auto ranks = static_cast<std::size_t>(me.size());
  const std::size_t steps = 2 * (ranks - 1);
  allreduce(me, "allreduce_ring", steps * ((kLargest + ranks - 1) / ranks), steps + 1);
}

SCENARIO(AllToAll, kManySizes) { all_to_all(me, "all_to_all", 517); }

}  // namespace baton::test
