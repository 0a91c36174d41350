// Random sequences of collectives, on the whole job and on subsets that overlap, with seeds that decide who runs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include <baton/inproc.hpp>

#include "collectives/selection.hpp"
#include "random_calls.hpp"
#include "seeded.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

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

/// Calls on the world, started by some ranks and made by others; meanwhile those that started one do something on a
/// half of the ranks.
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
