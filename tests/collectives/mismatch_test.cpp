// Ranks that make different calls learn of it, with both sides; so does a rank that makes two at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <thread>

#include <baton/collectives.hpp>
#include <baton/error.hpp>
#include <baton/inproc.hpp>
#include <baton/join.hpp>

#include "collectives/selection.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using collectives::Operation;
using testing::HasSubstr;

/// Runs `body` on `ranks` ranks and returns what each caught, by rank.
std::vector<std::string> caught(int ranks, const std::function<void(Domain&)>& body) {
  std::vector<std::string> reports(static_cast<std::size_t>(ranks));
  std::atomic<int> done = 0;
  run_ranks(ranks, [&](Domain me) {
    try {
      body(me);
    } catch (const Error& error) {
      reports[static_cast<std::size_t>(me.rank())] = error.what();
      if (error.code() != Code::mismatch) throw;
    }
    ++done;
    // Nobody leaves before all have seen it: a departure is another error.
    me.barrier();
  });
  return reports;
}

TEST(Mismatch, OfCountsIsToldToAllWithBothSides) {
  for (const std::size_t larger : {2U, 5000U, 500'000U}) {
    const auto reports = caught(3, [&](Domain& me) {
      std::vector<float> x(me.rank() == 1 ? larger : 1);
      allreduce(me, x);
    });
    for (const std::string& report : reports) {
      EXPECT_THAT(report, HasSubstr("allreduce of 1 float32, sum"));
      EXPECT_THAT(report, HasSubstr("allreduce of " + std::to_string(larger) + " float32, sum"));
      EXPECT_THAT(report, HasSubstr("rank 1 called"));
    }
  }
}

TEST(Mismatch, OfElementsOperationsAndRoots) {
  const auto elements = caught(2, [](Domain& me) {
    std::vector<float> floats(4);
    std::vector<int> ints(4);
    if (me.rank() == 0)
      allreduce(me, floats);
    else
      allreduce(me, ints);
  });
  EXPECT_THAT(elements[0], HasSubstr("rank 1 called allreduce of 4 int32"));
  EXPECT_THAT(elements[1], HasSubstr("rank 0 called allreduce of 4 float32"));
  const auto ops = caught(3, [](Domain& me) {
    std::vector<float> x(4);
    allreduce(me, x, me.rank() == 2 ? ReduceOp::max : ReduceOp::sum);
  });
  for (const std::string& report : ops) EXPECT_THAT(report, HasSubstr("allreduce of 4 float32, max"));
  const auto roots = caught(2, [](Domain& me) {
    std::vector<float> x(4);
    reduce(me, x, me.rank());
    reduce(me, x, 0);
  });
  EXPECT_THAT(roots[0] + roots[1], HasSubstr("root 1"));
}

/// Some ranks give their data and go on: nobody looks at what they called before the next call.
TEST(Mismatch, OfRootsThatDoNotWaitIsToldInTheNextCall) {
  const auto scattered = [](Domain& me, std::size_t count, int root) {
    const std::vector<float> in(count * static_cast<std::size_t>(me.size()));
    std::vector<float> out(count);
    scatter(me, in, out, root);
  };
  const auto broadcasted = [](Domain& me, std::size_t count, int root) {
    std::vector<float> x(count);
    broadcast(me, x, root);
  };
  const std::function<void(Domain&)> next_calls[] = {
      [](Domain& me) { barrier(me); },
      [](Domain& me) {
        std::vector<float> x(1);
        allreduce(me, x);
      },
      // Nobody but rank 1, which then makes no call any more, looks at what rank 1 called.
      [](Domain& me) {
        std::vector<float> x(1);
        for (int call = 0; call < 40; ++call) broadcast(me, x, 0);
      },
  };
  for (const auto& [name, first] :
       {std::pair<std::string, std::function<void(Domain&, std::size_t, int)>>{"scatter", scattered},
        {"broadcast", broadcasted}}) {
    for (const std::size_t count : {2U, 20'000U}) {
      for (const auto& next : next_calls) {
        const auto reports = caught(4, [&, &first = first](Domain& me) {
          first(me, count, me.rank() == 1 ? 1 : 0);
          next(me);
        });
        for (const std::string& report : reports) {
          EXPECT_THAT(report, HasSubstr("disagree about collective call 1"));
          EXPECT_THAT(report, HasSubstr("rank 1 called " + name + " of " + std::to_string(count) + " float32, root 1"));
          EXPECT_THAT(report, HasSubstr(name + " of " + std::to_string(count) + " float32, root 0"));
        }
      }
    }
  }
}

TEST(Mismatch, IsToldToOthersWhenTheOneThatNoticedHasLeft) {
  run_ranks(3, [](Domain me) {
    std::vector<float> x(1);
    broadcast(me, x, me.rank() == 1 ? 1 : 0);
    const auto next_calls = [&] {
      for (int call = 0; call < 40; ++call) broadcast(me, x, 0);
    };
    require_error(Code::mismatch, {"rank 1 called broadcast of 1 float32, root 1"}, next_calls);
  });
}

TEST(Mismatch, OfTheOrderOfCalls) {
  const auto reports = caught(4, [](Domain& me) {
    std::vector<float> x(4);
    if (me.rank() == 3) {
      broadcast(me, x, 3);
      barrier(me);
    } else {
      barrier(me);
      broadcast(me, x, 3);
    }
  });
  for (const std::string& report : reports) {
    EXPECT_THAT(report, HasSubstr("broadcast"));
    EXPECT_THAT(report, HasSubstr("barrier"));
  }
}

TEST(Mismatch, OfPlacesInWindows) {
  const auto reports = caught(2, [](Domain& me) {
    const auto x = me.window<float>("x", 40'000);
    allreduce(me, Data(x).slice(me.rank() == 0 ? 0 : 16, 30'000));
  });
  for (const std::string& report : reports) EXPECT_THAT(report, HasSubstr("differ in the windows"));
}

TEST(Mismatch, OfPairsInAllToAllV) {
  const auto reports = caught(3, [](Domain& me) {
    const std::vector<std::size_t> sends = {1, 1, 1};
    std::vector<std::size_t> receives = {1, 1, 1};
    if (me.rank() == 2) receives[0] = 5;
    const std::vector<int> in(3);
    std::vector<int> out(me.rank() == 2 ? 7 : 3);
    all_to_all_v(me, in, sends, out, receives);
  });
  for (const std::string& report : reports)
    EXPECT_THAT(report, HasSubstr("rank 0 sends 1 int32 to rank 2, which expects 5"));
}

TEST(Mismatch, OfMessages) {
  const auto reports = caught(2, [](Domain& me) {
    std::vector<float> x(me.rank() == 0 ? 5 : 4);
    if (me.rank() == 0)
      send(me, 1, x);
    else
      recv(me, 0, x);
  });
  EXPECT_THAT(reports[1], HasSubstr("rank 0 sent 5 float32 to rank 1, which receives 4 float32"));
}

TEST(AFailedCall, IsTheLastOneOfItsDomain) {
  run_ranks(2, [](Domain me) {
    std::vector<float> x(me.rank() == 0 ? 1 : 2);
    require_error(Code::mismatch, {}, [&] { allreduce(me, x); });
    require_error(Code::mismatch, {"an earlier collective on \"world\" failed"}, [&] { barrier(me); });
    // Another domain is not touched by it.
    Domain again = me.subset("again", std::vector<int>{0, 1});
    barrier(again);
    me.barrier();
  });
}

TEST(ARankThatNeverCalls, EndsTheOthersAtTheirDeadline) {
  run_ranks(2, [](Domain me) {
    if (me.rank() == 0) {
      std::vector<float> x(10);
      require_error(Code::wait_timeout, {"allreduce of 10 float32, sum on \"world\"", "rank 1"}, [&] {
        barrier(me);
        allreduce(me, x, ReduceOp::sum, {.timeout = std::chrono::milliseconds(150)});
      });
    } else {
      barrier(me);
    }
    me.barrier();
  });
}

TEST(ARankThatLeaves, EndsTheOthersAtOnce) {
  run_ranks(3, [](Domain me) {
    barrier(me);
    if (me.rank() == 2) return;
    std::vector<float> x(10);
    require_error(Code::peer_left, {"allreduce of 10 float32", "rank 2"}, [&] { allreduce(me, x); });
  });
}

TEST(ARankThatIsDone, MayLeaveWhileOthersStillWork) {
  for (int round = 0; round < 20; ++round) {
    run_ranks(4, [](Domain me) {
      std::vector<float> x(1, static_cast<float>(me.rank()));
      std::vector<float> all(4);
      gather(me, x, all, 0);
      if (me.rank() == 0) REQUIRE_EQUAL(all[3], 3.0F);
    });
  }
}

TEST(TwoCallsAtOnce, OfOneRankAreRefused) {
  const std::string job = "inproc:twice";
  std::thread other([&] {
    Domain me = join(job, 1, 2);
    barrier(me);
    me.barrier();
    barrier(me);
  });
  {
    Domain me = join(job, 0, 2);
    barrier(me);
    std::atomic<bool> refused = false;
    const auto attempt = [&] {
      try {
        barrier(me);
      } catch (const Error& error) {
        if (error.code() == Code::in_flight) refused = true;
      }
    };
    // One of the two waits for the other rank, which comes only after the other was refused.
    std::thread first(attempt);
    std::thread second(attempt);
    while (!refused) std::this_thread::yield();
    me.barrier();
    first.join();
    second.join();
  }
  other.join();
}

TEST(Arguments, ThatMakeNoSenseAreRefused) {
  run_ranks(2, [](Domain me) {
    std::vector<float> four(4);
    std::vector<float> five(5);
    require_error(Code::out_of_range, {"rank 2 is outside 0..1"}, [&] { broadcast(me, four, 2); });
    require_error(Code::invalid_argument, {"`out` has 5 float32, but 4 float32 are needed"},
                  [&] { allreduce(me, four, five); });
    require_error(Code::invalid_argument, {"`in` has 5"}, [&] { all_to_all(me, five, five); });
    require_error(Code::unsupported, {"broadcast has no algorithm ring"},
                  [&] { broadcast(me, four, 0, {.algorithm = Algorithm::ring}); });
    require_error(Code::misaligned, {"`x` is not aligned"},
                  [&] { broadcast(me, Data(reinterpret_cast<std::byte*>(four.data()) + 1, 2, Element::float32), 0); });
    require_error(Code::invalid_argument, {"is this rank"}, [&] { send(me, me.rank(), four); });
    const auto window = me.window<float>("w", 4);
    require_error(Code::out_of_range, {"outside of this rank's part of \"w\""},
                  [&] { allreduce(me, Data(window).slice(2, 3)); });
  });
}

TEST(Arguments, OfNoKnownKindAreRefused) {
  run_ranks(2, [](Domain me) {
    std::vector<float> x(4);
    std::vector<float> y(4);
    const Data strange(x.data(), 4, static_cast<Element>(77));
    const auto op = static_cast<ReduceOp>(77);
    require_error(Code::invalid_argument, {"`x` has elements of kind 77"}, [&] { broadcast(me, strange, 0); });
    require_error(Code::invalid_argument, {"`in` has elements of kind 77"}, [&] { allreduce(me, strange); });
    require_error(Code::invalid_argument, {"elements of kind 77"}, [&] { send(me, 1 - me.rank(), strange); });
    require_error(Code::invalid_argument, {"allreduce: there is no operation 77"}, [&] { allreduce(me, x, op); });
    require_error(Code::invalid_argument, {"reduce: there is no operation 77"}, [&] { reduce(me, x, y, 0, op); });
    require_error(Code::invalid_argument, {"there is no operation 77"},
                  [&] { reduce_scatter(me, x, Data(y).slice(0, 2), op); });
    // What was refused is no call.
    barrier(me);
  });
}

TEST(Arguments, LargerThanMemoryAreRefused) {
  run_ranks(2, [](Domain me) {
    std::vector<float> x(4);
    for (const std::size_t count : {std::numeric_limits<std::size_t>::max() / 4, std::size_t{1} << 62U,
                                    std::size_t{1} << 61U, std::size_t{1} << 55U}) {
      const Data all(x.data(), count, Element::float32);
      const auto refused = [](const std::function<void()>& call) {
        require_error(Code::out_of_range, {"ends beyond the memory of any process"}, call);
      };
      refused([&] { broadcast(me, all, 0); });
      refused([&] { allreduce(me, all); });
      refused([&] { allgather(me, all, x); });
      refused([&] { send(me, 1 - me.rank(), all); });
    }
    const std::vector<std::size_t> counts = {std::numeric_limits<std::size_t>::max() - 3, 8};
    require_error(Code::invalid_argument, {"`in` has 4 float32"},
                  [&] { all_to_all_v(me, std::vector<float>(4), counts, x, counts); });
    barrier(me);
  });
}

TEST(Arguments, ThatOverlapByAPartAreRefused) {
  run_ranks(2, [](Domain me) {
    std::vector<float> memory(12);
    const auto window = me.window<float>("w", 12);
    const std::vector<std::size_t> counts = {2, 2};
    for (const Data& all : {Data(memory), Data(window)}) {
      const auto at = [&](std::size_t first, std::size_t count) { return all.slice(first, count); };
      const auto refused = [](const std::function<void()>& call) {
        require_error(Code::invalid_argument, {"`in` and `out` overlap"}, call);
      };
      refused([&] { allreduce(me, at(0, 4), at(2, 4)); });
      refused([&] { reduce_scatter(me, at(0, 8), at(3, 4)); });
      refused([&] { reduce_scatter(me, at(0, 8), at(me.rank() == 0 ? 4 : 0, 4)); });  // the other's block
      refused([&] { allgather(me, at(1, 4), at(0, 8)); });
      refused([&] { all_to_all(me, at(0, 4), at(1, 4)); });
      refused([&] { all_to_all_v(me, at(0, 4), counts, at(0, 4), counts); });
      if (me.rank() == 0) {
        refused([&] { reduce(me, at(0, 4), at(3, 4), 0); });
        refused([&] { gather(me, at(5, 4), at(0, 8), 0); });
        refused([&] { scatter(me, at(0, 8), at(1, 4), 0); });
      }
      // These do no harm.
      const std::size_t own = me.rank() == 0 ? 0 : 4;
      allreduce(me, at(0, 4), at(4, 4));
      allreduce(me, at(0, 4), at(0, 4));
      reduce_scatter(me, at(0, 8), at(own, 4));
      allgather(me, at(own, 4), at(0, 8));
      all_to_all(me, at(0, 4), at(0, 4));
    }
  });
}

TEST(TheEnvironment, ForcesAlgorithms) {
  EXPECT_EQ(collectives::forced_by("allreduce:ring,broadcast:tree", Operation::allreduce), Algorithm::ring);
  EXPECT_EQ(collectives::forced_by("allreduce:ring,broadcast:tree", Operation::broadcast), Algorithm::tree);
  EXPECT_EQ(collectives::forced_by("allreduce:ring", Operation::gather), Algorithm::automatic);
  for (const char* bad : {"allreduce", "allreduce:loop", "sum:ring", "broadcast:ring", ":"}) {
    require_error(Code::bad_option, {bad}, [&] { static_cast<void>(collectives::forced_by(bad, Operation::gather)); });
  }
}

}  // namespace
}  // namespace baton::test
