// Many ranks in one process.
#include <gtest/gtest.h>
#include <baton/inproc.hpp>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "support/require.hpp"

namespace baton {
namespace {

using namespace std::chrono_literals;
using test::require_error;

TEST(RunRanks, RunsEveryRankOnce) {
  for (const int threads : {0, 1, 3, 100}) {
    std::vector<std::atomic<int>> runs(20);
    run_ranks(20,
              [&](Domain me) {
                EXPECT_EQ(me.size(), 20);
                runs[static_cast<std::size_t>(me.rank())].fetch_add(1);
                me.barrier();
              },
              {.threads = threads});
    for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
  }
}

TEST(RunRanks, ThrowsTheFirstFailureAndNotWhatFollowedFromIt) {
  for (const int threads : {1, 2}) {
    std::atomic<int> told{0};
    try {
      run_ranks(6,
                [&](Domain me) {
                  const Signals signals = me.signals("s", 1);
                  if (me.rank() == 3) throw std::out_of_range("the cause");
                  try {
                    signals.wait(0, WaitCmp::ge, 1, 60s);
                  } catch (const Error& error) {
                    test::require_report(error, Code::peer_died,
                                         {"rank 3 of \"world\" died", "it threw std::out_of_range: the cause"});
                    told.fetch_add(1);
                    throw;
                  }
                },
                {.threads = threads});
      FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "the cause");
    }
    EXPECT_EQ(told.load(), 5);
  }
}

TEST(RunRanks, ChecksItsArguments) {
  const auto nothing = [](Domain) {};
  require_error(Code::invalid_argument, {"0 ranks"}, [&] { run_ranks(0, nothing); });
  require_error(Code::invalid_argument, {"-1 ranks"}, [&] { run_ranks(-1, nothing); });
  require_error(Code::invalid_argument, {"65537 ranks"}, [&] { run_ranks(65'537, nothing); });
  require_error(Code::invalid_argument, {"-2 threads"}, [&] { run_ranks(1, nothing, {.threads = -2}); });
}

TEST(RunRanks, CanBeNestedAndRepeated) {
  for (int i = 0; i < 3; ++i) {
    std::atomic<int> inner{0};
    run_ranks(2, [&](Domain me) {
      me.barrier();
      if (me.rank() != 0) return;
      run_ranks(3, [&](Domain other) {
        other.barrier();
        inner.fetch_add(1);
      });
    });
    EXPECT_EQ(inner.load(), 3);
  }
}

TEST(RunRanks, HandlesMayOutliveTheirRank) {
  Domain kept;
  RawWindow window;
  run_ranks(2, [&](Domain me) {
    const RawWindow made = me.raw_window("w", 64);
    me.barrier();
    if (me.rank() == 0) {
      kept = me;
      window = made;
    }
  });
  // The memory is still there; nobody else is.
  window.put(1, 0, "x", 1);
  EXPECT_EQ(window.part(1)[0], std::byte{'x'});
  require_error(Code::peer_left, {"rank 0", "has left the job itself"}, [&] { kept.barrier(1s); });
}

}  // namespace
}  // namespace baton
