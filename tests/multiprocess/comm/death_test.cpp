// Ranks that die: the others learn of it at once, by name, and nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "deaths.hpp"
#include "job.hpp"
#include "support/rank_program.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class Trap6DeathAtEveryStep : public testing::TestWithParam<Death> {};

TEST_P(Trap6DeathAtEveryStep, IsToldToAll) {
  const auto [step, victim] = GetParam();
  Job job("Life", 4, ending(victim, step));
  job.start();
  job.finish();
  ASSERT_EQ(WTERMSIG(job.status(victim)), SIGKILL);
  for (int rank = 0; rank < 4; ++rank) {
    if (rank != victim) job.expect_death_seen(rank, victim);
  }
}

INSTANTIATE_TEST_SUITE_P(, Trap6DeathAtEveryStep, testing::ValuesIn(deaths_in_life()), step_and_victim);

TEST(Trap6Death, AfterTheLastCollectiveCallDisturbsNobody) {
  for (const int victim : {0, 2}) {
    Job job("Life", 4, ending(victim, "after_everything"));
    job.start();
    job.finish();
    for (int rank = 0; rank < 4; ++rank) {
      if (rank != victim) job.expect_success(rank);
    }
  }
}

TEST(Trap6Death, InTheMiddleOfAnAllocation) {
  for (const auto& [step, victim] : {Death{"before_offer", 0}, Death{"offered", 0}, Death{"collected", 2}}) {
    Job job("HalfAnAllocation", 4, ending(victim, step));
    job.start();
    job.finish();
    for (int rank = 0; rank < 4; ++rank) {
      if (rank != victim) job.expect_death_seen(rank, victim);
    }
  }
}

TEST(Trap6Death, AtAnyMoment) {
  std::mt19937 random(1);
  for (int run = 0; run < scaled(12); ++run) {
    const int victim = static_cast<int>(random() % 4);
    Job job("BusyUntilDeath", 4);
    job.start();
    ASSERT_TRUE(job.processes().wait_for_output(static_cast<std::size_t>(victim), "busy", Deadline::after(60s)));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    job.processes().signal(static_cast<std::size_t>(victim), SIGKILL);
    job.finish();
    for (int rank = 0; rank < 4; ++rank) {
      if (rank != victim) job.expect_death_seen(rank, victim);
    }
  }
}

TEST(Trap6Death, OfAProcessThatIsReapedAtOnce) {
  Job job("Life", 4, ending(1, "waiting"), Reaping::at_once);
  job.start();
  job.finish();
  // Old kernels forget the cause with the process.
  for (const int rank : {0, 2, 3}) job.expect_death_seen(rank, 1, "rank 1 (pid");
}

TEST(Trap6Death, EndingsAreTold) {
  struct Ending {
    const char* how;
    const char* cause;
  };
  for (const auto& [how, cause] : {Ending{"exit3", "exit code 3"}, Ending{"abort", "SIGABRT"},
                                   Ending{"segv", "SIGSEGV"}, Ending{"throw", "it threw an error"},
                                   // An exit code of zero is not always readable.
                                   Ending{"exit", "died:"}}) {
    Job job("Life", 4, ending(1, "waiting", how));
    job.start();
    job.finish();
    for (const int rank : {0, 2, 3}) job.expect_death_seen(rank, 1, cause);
  }
}

TEST(Trap6Death, OfTwoAtOnce) {
  for (const char* victims : {"1,2", "0,3", "0,2"}) {
    Job job("Life", 4, {fmt::format("TEST_VICTIMS={}", victims), "TEST_STEP=waiting"});
    job.start();
    job.finish();
    const std::string dead = victims;
    for (int rank = 0; rank < 4; ++rank) {
      if (dead.find(std::to_string(rank)) != std::string::npos) continue;
      // One of them at least; which is seen first is chance.
      job.expect_caught(rank, "peer_died", {"SIGKILL"});
    }
  }
}

TEST(Trap6Death, OfThreeLeavesOneThatKnowsAll) {
  Job job("Life", 4, {"TEST_VICTIMS=0,1,3", "TEST_STEP=allocated"});
  job.start();
  job.finish();
  job.expect_caught(2, "peer_died", {"SIGKILL"});
}

TEST(Trap6Death, OneAfterTheOther) {
  Job job("OneAfterTheOther", 4, ending(0, "first"));
  job.start();
  job.finish();
  for (const int rank : {1, 3}) {
    job.expect_death_seen(rank, 0);
    EXPECT_THAT(job.output(rank), HasSubstr("went on"));
    // Rank 2 of the job is rank 1 of {3, 2, 1}.
    job.expect_caught(
        rank, "peer_died",
        {fmt::format("rank 1 (rank 2 of the job) (pid {}) died: SIGKILL", job.pid(2)), "of \"rest\" died"});
  }
}

TEST(Processes, MayFork) {
#if defined(BATON_SANITIZE_THREAD)
  GTEST_SKIP() << "the thread sanitizer does not follow forks of threaded programs";
#else
  Job job("Forks", 4);
  job.start();
  job.finish();
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(job.status(rank), 0) << job.processes().report();
#endif
}

}  // namespace
}  // namespace baton::test
