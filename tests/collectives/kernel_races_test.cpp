// Collectives inside kernels under the eyes of the race detector, whole and with any one wait left out.
#include <gtest/gtest.h>

#include "calling_rank.hpp"
#include "chip_cases.hpp"
#include "seeded.hpp"
#include "support/recorded.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr int kRanks = 4;
constexpr int kMutant = 1;
constexpr int kNone = -1;
/// Waits of the first calls are left out: those behind them use again what these used.
constexpr int kMutatedCalls = 2;
constexpr int kCalls = 4;

struct Outcome {
  std::string failure;
  std::size_t wrong = 0;
  int waits = 0;  // of the mutant, in the calls that may be mutated
};

Outcome run_calls(const Case& one, std::uint64_t seed, int left_out) {
  Outcome outcome;
  outcome.failure = run_seeded(kRanks, seed, [&](Domain me) {
    // In several pieces.
    CallingRank rank(me, bytes_of(one, kRanks) + 64, 2 * kRanks * 64, {.clusters = 1, .threads = 1, .seed = seed});
    for (int round = 0; round < kCalls; ++round) {
      const std::size_t wrong = rank.call_without(me.rank() == kMutant ? left_out : kNone, one, round);
      outcome.wrong += wrong;
      if (me.rank() == kMutant && round + 1 == kMutatedCalls) outcome.waits = rank.waits();
    }
    me.barrier();
  });
  return outcome;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& [operation, algorithm] : chip_algorithms()) {
    if (operation == Operation::barrier) continue;
    all.push_back({.operation = operation, .count = 40, .root = 1, .memory = Memory::windows, .algorithm = algorithm});
  }
  return all;
}

TEST(KernelRaces, AreNotInWholeCollectivesForEverySeed) {
  for (const Case& one : cases()) {
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(3)); ++seed) {
      Outcome outcome;
      const Recorded recorded = record([&] { outcome = run_calls(one, seed, kNone); });
      ASSERT_EQ(outcome.failure + recorded.failure, "") << describe(one) << ", seed " << seed;
      ASSERT_EQ(outcome.wrong, 0U) << describe(one) << ", seed " << seed;
      ASSERT_EQ(recorded.text(), "") << describe(one) << ", seed " << seed;
      ASSERT_GT(recorded.findings.accesses, 0U) << describe(one);
      ASSERT_GT(outcome.waits, 0) << describe(one);
    }
  }
}

/// Not each: some waits are for what another one waits for, too.
TEST(KernelRaces, AreWhereWaitsAreLeftOut) {
#if defined(BATON_SANITIZE_ADDRESS) || defined(BATON_SANITIZE_THREAD)
  GTEST_SKIP() << "mutants do what sanitizers report";
#endif
  int mutants = 0;
  int found = 0;
  for (const Case& one : cases()) {
    const int found_before = found;
    const int waits = run_calls(one, 1, kNone).waits;
    for (int wait = 1; wait <= waits; ++wait) {
      ++mutants;
      const Recorded recorded = record([&] { static_cast<void>(run_calls(one, 1, wait)); });
      if (!recorded.findings.races.empty()) ++found;
    }
    EXPECT_GT(found, found_before) << describe(one);
  }
  EXPECT_GT(found, mutants / 2) << "of " << mutants << " mutants";
}

}  // namespace
}  // namespace baton::test
