// Collectives that are started: order, progress, and what is refused.
#include <gtest/gtest.h>

#include <numeric>

#include <baton/inproc.hpp>
#include <baton/started_collectives.hpp>

#include "seeded.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

TEST(Started, SeveralOnOneDomainEndInTheirOrder) {
  const auto body = [](Domain me) {
    std::vector<std::vector<float>> xs;
    std::vector<Event> events;
    for (int i = 0; i < 5; ++i)
      xs.emplace_back(static_cast<std::size_t>(1) << (4 * i), static_cast<float>(i + me.rank()));
    for (std::vector<float>& x : xs) events.push_back(start_allreduce(me, x));
    events.back().wait();
    const auto sum = static_cast<float>(me.size() * (me.size() - 1)) / 2;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      REQUIRE(events[i].test());
      for (const float element : xs[i]) REQUIRE(element == sum + static_cast<float>(me.size()) * static_cast<float>(i));
    }
    // The domain is free for calls of the other kind as soon as the last one has ended.
    barrier(me);
  };
  for (int round = 0; round < 20; ++round) run_ranks(3, body);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) EXPECT_EQ(run_seeded(3, seed, body), "") << "seed " << seed;
}

// Rank 0 has started its part and waits for something else; rank 1 needs more of rank 0 than that it has begun.
TEST(Started, GoOnWhileTheirRankWaitsForSomethingElse) {
  const auto body = [](Domain me) {
    std::vector<float> x(100'000, 1);
    if (me.rank() == 0) {
      const Event event = start_allreduce(me, x, ReduceOp::sum, {.algorithm = Algorithm::ring});
      me.barrier();
      event.wait();
    } else {
      allreduce(me, x, ReduceOp::sum, {.algorithm = Algorithm::ring});
      me.barrier();
    }
    REQUIRE(x.front() == 3.0F && x.back() == 3.0F);
  };
  run_ranks(3, body);
  EXPECT_EQ(run_seeded(3, 7, body), "");
}

TEST(Started, RefuseOtherCallsMeanwhile) {
  const auto body = [](Domain me) {
    std::vector<float> x(10, 1);
    barrier(me);
    if (me.rank() == 0) {
      const Event event = start_allreduce(me, x);
      require_error(Code::in_flight, {"while another one of it was in flight"}, [&] { barrier(me); });
      REQUIRE(!event.test());
      me.barrier();
      event.wait();
    } else {
      me.barrier();  // rank 1 takes part only now
      allreduce(me, x);
    }
    REQUIRE(x[9] == 2.0F);
    barrier(me);
  };
  run_ranks(2, body);
  EXPECT_EQ(run_seeded(2, 3, body), "");
}

TEST(Started, TellWhatWentWrongEachTimeAndToAllThatFollow) {
  run_ranks(2, [](Domain me) {
    std::vector<float> x(me.rank() == 0 ? 10 : 11);
    const Event first = start_allreduce(me, x);
    const Event second = start_barrier(me);
    require_error(Code::mismatch, {"disagree"}, [&] { first.wait(); });
    require_error(Code::mismatch, {"disagree"}, [&] { first.wait(); });
    require_error(Code::mismatch, {"an earlier collective"}, [&] { second.wait(); });
    require_error(Code::mismatch, {"an earlier collective"}, [&] { barrier(me); });
  });
}

TEST(Started, CheckTheirArgumentsAtOnce) {
  run_ranks(2, [](Domain me) {
    std::vector<float> x(10);
    require_error(Code::out_of_range, {"rank 2 is outside 0..1"},
                  [&] { static_cast<void>(start_broadcast(me, x, 2)); });
    barrier(me);
  });
}

TEST(Started, EndWithTheirEventsAndAloneAtOnce) {
  run_ranks(3, [](Domain me) {
    std::vector<std::int32_t> x(1000, 1);
    {
      const Event dropped = start_allreduce(me, x);
      Event empty;
      REQUIRE(empty.test());
      empty = start_barrier(me);
      empty = start_barrier(me);
    }
    REQUIRE(std::accumulate(x.begin(), x.end(), 0) == 3000);
  });
  run_ranks(1, [](Domain me) {
    std::vector<float> x(10, 2);
    const Event event = start_allreduce(me, x);
    REQUIRE(event.test() && x[0] == 2.0F);
  });
}

}  // namespace
}  // namespace baton::test
