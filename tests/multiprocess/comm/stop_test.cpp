// A stopped rank is not dead: the others wait as long as they were told to, and then say who is silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "job.hpp"
#include "support/rank_program.hpp"

namespace baton::test {
namespace {

using namespace std::chrono_literals;

/// Blocks until `pid`, a child of this process, is stopped.
void wait_until_stopped(int pid) {
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED | WNOWAIT), 0);
  ASSERT_EQ(info.si_code, CLD_STOPPED);
}

TEST(StoppedRank, LetsALongWaitSucceedOnceItContinues) {
  Job job("WaitsForRankOne", 4);
  job.start();
  ASSERT_NO_FATAL_FAILURE(wait_until_stopped(job.pid(1)));
  // Long enough for the others to sleep, and for a watcher to mistake silence for death.
  std::this_thread::sleep_for(500ms);
  job.processes().signal(1, SIGCONT);
  job.finish();
  for (int rank = 0; rank < 4; ++rank) {
    job.expect_success(rank);
    EXPECT_THAT(job.output(rank), testing::HasSubstr("done"));
  }
}

TEST(StoppedRank, IsNamedAtTheDeadline) {
  Job job("WaitsForRankOne", 4, {"BATON_WAIT_TIMEOUT=700ms"});
  job.start();
  ASSERT_NO_FATAL_FAILURE(wait_until_stopped(job.pid(1)));
  for (const std::size_t rank : {0U, 2U, 3U}) {
    ASSERT_TRUE(job.processes().wait_for_output(rank, "BATON-E031", Deadline::after(60s))) << job.processes().report();
  }
  job.processes().signal(1, SIGCONT);
  for (const std::size_t rank : {0U, 2U, 3U}) job.processes().signal(rank, SIGUSR1);
  job.finish();
  for (const int rank : {0, 2, 3}) {
    job.expect_caught(
        rank, "wait_timeout",
        {fmt::format("rank 1 (pid {}) is running (its process is stopped)", job.pid(1)), "has 0, needs >= 1"});
  }
  // It comes back late, and nothing is wrong with what it does itself.
  job.expect_success(1);
}

}  // namespace
}  // namespace baton::test
