// Collectives inside kernels under the eyes of the race detector, whole and with any one wait left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "calling_rank.hpp"
#include "chip_cases.hpp"
#include "seeded.hpp"
#include "support/recorded.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr int kRanks = 4;
constexpr int kRoot = 1;
constexpr int kNone = -1;
/// Every rank has a share of such a vector, and half of a share.
constexpr std::size_t kCount = 160;
/// A vector fits into it, blocks for all ranks go through it in several pieces.
constexpr std::size_t kRoomBytes = 2048;
/// Waits of the first calls are left out: those behind them use again what these used.
constexpr int kMutatedCalls = 2;
constexpr int kCalls = 4;

/// The wait of this number is left out by this rank.
struct Mutation {
  int rank = kNone;
  int wait = kNone;
};

struct Outcome {
  std::string failure;
  std::size_t wrong = 0;
  std::array<int, kRanks> waits{};  // of each rank, in the calls that may be mutated
};

Outcome run_calls(const Case& one, std::uint64_t seed, const Mutation& mutation) {
  Outcome outcome;
  outcome.failure = run_seeded(kRanks, seed, [&](Domain me) {
    CallingRank rank(me, bytes_of(one, kRanks) + 64, kRoomBytes, {.clusters = 1, .threads = 1, .seed = seed});
    for (int round = 0; round < kCalls; ++round) {
      const std::size_t wrong = rank.call_without(me.rank() == mutation.rank ? mutation.wait : kNone, one, round);
      outcome.wrong += wrong;
      if (round + 1 == kMutatedCalls) outcome.waits[static_cast<std::size_t>(me.rank())] = rank.waits();
    }
    me.barrier();
  });
  return outcome;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& [operation, algorithm] : chip_algorithms()) {
    if (operation == Operation::barrier) continue;
    all.push_back(
        {.operation = operation, .count = kCount, .root = kRoot, .memory = Memory::windows, .algorithm = algorithm});
  }
  return all;
}

TEST(KernelRaces, AreNotInWholeCollectivesForEverySeed) {
  for (const Case& one : cases()) {
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(3)); ++seed) {
      Outcome outcome;
      const Recorded recorded = record([&] { outcome = run_calls(one, seed, {}); });
      ASSERT_EQ(outcome.failure + recorded.failure, "") << describe(one) << ", seed " << seed;
      ASSERT_EQ(outcome.wrong, 0U) << describe(one) << ", seed " << seed;
      ASSERT_EQ(recorded.text(), "") << describe(one) << ", seed " << seed;
      ASSERT_GT(recorded.findings.accesses, 0U) << describe(one);
      ASSERT_GT(outcome.waits[kRoot], 0) << describe(one);
    }
  }
}

/// Waits without which there is no race, because the root needs them for nothing: of each `turn` waits of an algorithm
/// the one of this number. The other ranks need theirs.
struct Needless {
  Operation operation;
  Algorithm algorithm;
  int turn;
  int number;
};
constexpr Needless kNeedless[] = {
    // The root touches nothing between its two meetings, and the second is not over before the first.
    {Operation::broadcast, Algorithm::mesh, 2, 1},
    // It reads its own block alone, which nobody else writes.
    {Operation::scatter, Algorithm::automatic, 2, 1},
    // The last meeting says that the root has read what the others have in their rooms. Nobody reads what it has there.
    {Operation::reduce, Algorithm::mesh, 3, 3},
    {Operation::reduce, Algorithm::tree, 3, 3},
    {Operation::gather, Algorithm::automatic, 2, 2},
};

bool is_needless(const Case& one, const Mutation& mutation) {
  return mutation.rank == kRoot && std::ranges::any_of(kNeedless, [&](const Needless& needless) {
           return needless.operation == one.operation && needless.algorithm == one.algorithm &&
                  (mutation.wait - 1) % needless.turn + 1 == needless.number;
         });
}

/// The schedules of these seeds: one of them comes to the race, if it is not an error that ends the call before.
constexpr std::uint64_t kSeeds = 5;

bool has_race(const Case& one, const Mutation& mutation) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recorded recorded = record([&] { static_cast<void>(run_calls(one, seed, mutation)); });
    if (!recorded.findings.races.empty()) return true;
  }
  return false;
}

void expect_no_race(const Case& one, const Mutation& mutation) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Outcome outcome;
    const Recorded recorded = record([&] { outcome = run_calls(one, seed, mutation); });
    EXPECT_EQ(outcome.failure + recorded.failure + recorded.text(), "");
    EXPECT_EQ(outcome.wrong, 0U);
  }
}

TEST(KernelRaces, AreWhereverAWaitIsLeftOut) {
#if defined(BATON_SANITIZE_ADDRESS) || defined(BATON_SANITIZE_THREAD)
  GTEST_SKIP() << "mutants do what sanitizers report";
#endif
  for (const Case& one : cases()) {
    const Outcome whole = run_calls(one, 1, {});
    for (const int rank : {kRoot, kRoot + 1}) {
      for (int wait = 1; wait <= whole.waits[static_cast<std::size_t>(rank)]; ++wait) {
        const Mutation mutation{rank, wait};
        SCOPED_TRACE(fmt::format("{}, rank {} without wait {}", describe(one), rank, wait));
        if (is_needless(one, mutation)) {
          expect_no_race(one, mutation);
        } else {
          EXPECT_TRUE(has_race(one, mutation));
        }
      }
    }
  }
}

}  // namespace
}  // namespace baton::test
