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

std::int32_t* signals_behind(const Window<float>& window, std::size_t floats) {
  return reinterpret_cast<std::int32_t*>(window.data() + floats);
}

/// Small enough that sums of all ranks are exact.
float input(std::size_t i, int rank, int round) {
  return static_cast<float>(i % 1000) + static_cast<float>(100 * rank + round);
}

/// Every size in the same window, whose first `floats` are the kernel's; each size has signals of its own, as they
/// count up for ever.
void allreduce(Domain me, const char* kernel, std::size_t floats, std::size_t signal_count) {
  const auto window = me.window<float>("window", floats + signal_count * std::size(kCounts));
  ChipRank chip(me);
  std::int32_t* signals = signals_behind(window, floats);
  for (const std::size_t count : kCounts) {
    HostTensor in(chip.memory(), count, "in"), out(chip.memory(), count, "out");
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < count; ++i) in[i] = input(i, me.rank(), round);
      chip.run(kernel, {in.argument(), out.argument(), argument(window.context()), argument(window.data()),
                        argument(signals), round});
      for (std::size_t i = 0; i < count; ++i) {
        float sum = 0;
        for (int rank = 0; rank < me.size(); ++rank) sum += input(i, rank, round);
        REQUIRE_EQUAL(out[i], sum);
      }
    }
    signals += signal_count;
  }
}

/// Part p of rank r's input ends as part r of rank p's output.
void all_to_all(Domain me, const char* kernel, std::size_t part) {
  const auto ranks = static_cast<std::size_t>(me.size());
  const auto window = me.window<float>("window", ranks * part + 2);
  ChipRank chip(me);
  HostTensor in(chip.memory(), ranks * part, "in"), out(chip.memory(), ranks * part, "out");
  const auto sent = [&](int from, int to, std::size_t i, int round) {
    return static_cast<float>(1000 * from + 100 * to + static_cast<int>(i % 97) + 7 * round);
  };
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = sent(me.rank(), static_cast<int>(i / part), i % part, round);
    chip.run(kernel, {in.argument(), out.argument(), argument(window.context()), argument(window.data()),
                      argument(signals_behind(window, ranks * part)), round});
    for (std::size_t i = 0; i < out.size(); ++i) {
      REQUIRE_EQUAL(out[i], sent(static_cast<int>(i / part), me.rank(), i % part, round));
    }
  }
}

}  // namespace

SCENARIO(AllreduceOnePhase, kManySizes) { allreduce(me, "allreduce_onephase", kLargest, 1); }

SCENARIO(AllreduceTwoPhase, kManySizes) { allreduce(me, "allreduce_twophase", kLargest, 1); }

SCENARIO(AllreduceRing, kManySizes) {
  const auto ranks = static_cast<std::size_t>(me.size());
  const std::size_t steps = 2 * (ranks - 1);
  allreduce(me, "allreduce_ring", steps * ((kLargest + ranks - 1) / ranks), steps + 1);
}

SCENARIO(AllToAll, kManySizes) { all_to_all(me, "all_to_all", 517); }

// Several chunks of the engine: whoever is told too early reads what was there before.
SCENARIO(AsyncAllToAll, kManySizes) { all_to_all(me, "async_all_to_all", 100'003); }

}  // namespace baton::test
