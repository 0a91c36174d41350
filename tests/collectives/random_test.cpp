// Random sequences of collectives, on the whole job and on subsets that overlap, with seeds that decide who runs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include <baton/inproc.hpp>

#include "cases.hpp"
#include "collectives/selection.hpp"
#include "seeded.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr std::size_t kMostCount = 12'000;

/// The next case of a sequence that all members draw alike.
Case draw(std::mt19937_64& random, int ranks) {
  const auto infos = collectives::all_algorithms();
  const auto& info = infos[random() % infos.size()];
  Case one;
  one.operation = info.operation == Operation::barrier && random() % 2 == 0 ? Operation::all_to_all_v : info.operation;
  one.algorithm = random() % 2 == 0 && one.operation == info.operation ? info.algorithm : Algorithm::automatic;
  one.element = static_cast<Element>(random() % 12);
  one.op = static_cast<ReduceOp>(random() % 5);
  constexpr std::size_t kScales[] = {3, 40, 3000, kMostCount};
  one.count = random() % kScales[random() % 4];
  one.root = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
  one.memory =
      one.operation == Operation::broadcast ? static_cast<Memory>(random() % 2) : static_cast<Memory>(random() % 4);
  if (may_be_in_place(one.operation) && random() % 2 == 0 && one.memory <= Memory::own) one.placing = Placing::in_place;
  return one;
}

/// A domain with its own sequence. Members draw from the same seed.
struct Group {
  Group(Domain members, std::uint64_t seed)
      : domain(std::move(members)),
        random(seed),
        buffers(domain, (kMostCount + 8) * 8 * static_cast<std::size_t>(domain.size())) {}
  void call(int round, const Maker& maker = call_public) {
    const Case one = draw(random, domain.size());
    const std::size_t wrong = wrong_elements(domain, buffers, one, round, maker);
    if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
  }
  Domain domain;
  std::mt19937_64 random;
  Buffers buffers;
};

/// Calls on the world, on a half and on a subset that crosses the halves, in an order that every rank draws alike.
void random_calls(Domain me, std::uint64_t seed, int calls) {
  std::mt19937_64 order(seed);
  std::vector<int> half;
  std::vector<int> crossing;
  for (int rank = 0; rank < me.size(); ++rank) {
    if ((rank < me.size() / 2) == (me.rank() < me.size() / 2)) half.push_back(rank);
    if (rank % 2 == me.rank() % 2) crossing.insert(crossing.begin(), rank);
  }
  Group world(me, seed * 3 + 1);
  Group side(me.subset("half", half), seed * 3 + 2 + (me.rank() < me.size() / 2 ? 0 : 1000));
  Group across(me.subset("crossing", crossing), seed * 3 + 3 + static_cast<std::uint64_t>(me.rank() % 2) * 1000);
  for (int call = 0; call < calls; ++call) {
    switch (order() % 4) {
      case 0:
      case 1: world.call(call); break;
      case 2: side.call(call); break;
      default: across.call(call);
    }
  }
}

TEST(RandomCalls, OnOverlappingDomainsAreRightForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(6)); ++seed) {
    EXPECT_EQ(run_seeded(6, seed, [&](Domain me) { random_calls(std::move(me), seed, 30); }), "") << "seed " << seed;
  }
}

TEST(RandomCalls, OnThreadsAreRight) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(4)); ++seed) {
    run_ranks(6, [&](Domain me) { random_calls(std::move(me), 100 + seed, 40); });
  }
}

/// Calls on the world, started by some ranks and made by others; whoever has started one does something on a half of
/// the ranks meanwhile.
void random_started_calls(Domain me, std::uint64_t seed, int calls) {
  std::vector<int> half;
  for (int rank = me.rank() % 2; rank < me.size(); rank += 2) half.push_back(rank);
  Group world(me, seed * 3 + 1);
  Group side(me.subset("half", half), seed * 3 + 2 + static_cast<std::uint64_t>(me.rank() % 2) * 1000);
  for (int call = 0; call < calls; ++call) {
    world.call(call, [&](const Domain& domain, const Case& one, ConstData in, Data out) {
      // The ranks of a half do the same.
      const bool starts = (static_cast<std::uint64_t>(call) + seed) % 3 != static_cast<std::uint64_t>(me.rank() % 2);
      if (!starts) {
        call_public(domain, one, in, out);
        side.call(call);
        return;
      }
      const Event event = start_public(domain, one, in, out);
      side.call(call);
      event.wait();
      REQUIRE(event.test());
    });
  }
}

TEST(RandomStartedCalls, AreRightForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(6)); ++seed) {
    EXPECT_EQ(run_seeded(5, seed, [&](Domain me) { random_started_calls(std::move(me), seed, 20); }), "")
        << "seed " << seed;
  }
}

TEST(RandomStartedCalls, OnThreadsAreRight) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(4)); ++seed) {
    run_ranks(4, [&](Domain me) { random_started_calls(std::move(me), 100 + seed, 30); });
  }
}

TEST(RepeatedRuns, GiveTheSameBits) {
  // Sums of such numbers depend on their order.
  std::vector<float> first;
  for (const auto& info : collectives::all_algorithms()) {
    if (info.operation != Operation::allreduce) continue;
    first.clear();
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const std::string failure = run_seeded(5, seed, [&](Domain me) {
        std::vector<float> x(5000);
        std::mt19937 random(static_cast<unsigned>(me.rank()));
        for (float& element : x)
          element = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 40));
        allreduce(me, x, ReduceOp::sum, {.algorithm = info.algorithm});
        if (first.empty()) first = x;
        REQUIRE(std::memcmp(first.data(), x.data(), x.size() * sizeof(float)) == 0);
      });
      EXPECT_EQ(failure, "") << collectives::name_of(info.algorithm) << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace baton::test
