// Coming together: who may join, who is refused, who is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include <fmt/format.h>

#include "job.hpp"
#include "support/rank_program.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Join, MissingRanksAreNamedToEveryone) {
  Job job("JoinsSoon", 8);
  job.start(0);
  job.wait_for_host();
  for (const int rank : {1, 2, 4, 6, 7}) job.start(rank);
  job.finish();
  for (int process = 0; process < 6; ++process) {
    job.expect_caught(process, "join_timeout", {"ranks 3, 5 of 8 did not arrive", "within 3 s"});
  }
}

TEST(Join, AloneNamesAllOthers) {
  Job job("JoinsSoon", 3);
  job.start(1);
  job.finish();
  job.expect_caught(0, "join_timeout", {"ranks 0, 2 of 3 did not arrive"});
}

TEST(Join, TakenRankIsRefusedWithItsOwner) {
  Job job("Joins", 3);
  job.start(0);
  job.wait_for_host();
  job.start(1);
  job.start(0);
  ASSERT_TRUE(job.processes().wait_for_end(2, Deadline::after(30s)));
  job.expect_caught(2, "rank_taken", {"rank 0 of", fmt::format("is taken by pid {}", job.pid(0))});
  job.start(2);
  job.finish();
  for (const int process : {0, 1, 3}) job.expect_success(process);
}

TEST(Join, TheSecondOfTwoThatClaimOneRankIsRefused) {
  Job job("Joins", 3);
  job.start(0);
  job.wait_for_host();
  job.start(1);
  job.start(1);
  const auto refused = [&](int process) { return job.output(process).find("caught rank_taken") != std::string::npos; };
  while (!refused(1) && !refused(2)) {
    const bool first = job.processes().wait_for_output(1, "caught rank_taken", Deadline::after(10ms));
    const bool second = job.processes().wait_for_output(2, "caught rank_taken", Deadline::after(10ms));
    if (!first && !second && job.processes().wait_for_end(0, Deadline::after(0s))) break;
  }
  job.start(2);
  job.finish();
  EXPECT_NE(refused(1), refused(2)) << job.processes().report();
  const int loser = refused(1) ? 1 : 2;
  job.expect_caught(loser, "rank_taken", {fmt::format("taken by pid {}", job.pid(3 - loser))});
  for (const int process : {0, 3 - loser, 3}) job.expect_success(process);
}

TEST(Join, WrongSizeIsRefusedWithBothSizes) {
  Job job("Joins", 3);
  job.start(0);
  job.wait_for_host();
  job.start(1, 5, {});
  ASSERT_TRUE(job.processes().wait_for_end(1, Deadline::after(30s)));
  job.expect_caught(1, "join_refused", {"has 5 ranks", fmt::format("rank 0 (pid {}), says 3", job.pid(0))});
  job.start(1);
  job.start(2);
  job.finish();
  for (const int process : {0, 2, 3}) job.expect_success(process);
}

TEST(Join, LateArrivalInARunningJobIsRefused) {
  Job job("JoinsAndStays", 2);
  job.start();
  ASSERT_TRUE(job.processes().wait_for_output(0, "joined", Deadline::after(30s)));
  ASSERT_TRUE(job.processes().wait_for_output(1, "joined", Deadline::after(30s)));
  for (int process = 2; process < 8; ++process) {
    job.start(process % 2);
    ASSERT_TRUE(job.processes().wait_for_end(static_cast<std::size_t>(process), Deadline::after(30s)));
    job.expect_caught(
        process, "rank_taken",
        {"all 2 ranks of", "are taken by a job that runs already", fmt::format("rank 0 is pid {}", job.pid(0))});
  }
  for (const std::size_t rank : {0U, 1U}) job.processes().signal(rank, SIGUSR1);
  job.finish();
  for (const int rank : {0, 1}) job.expect_success(rank);
}

TEST(Join, AJobThatLostARankGivesItsNameAway) {
  // Rank 1 dies; the others, the host among them, stay in the job although it is broken.
  Job broken("JoinsAndStays", 3, {"TEST_VICTIMS=1", "TEST_STEP=joined"});
  broken.start();
  for (const std::size_t rank : {0U, 2U}) {
    ASSERT_TRUE(broken.processes().wait_for_output(rank, "caught peer_died", Deadline::after(30s)));
  }
  Job next(broken, "Joins", 3);
  for (int rank = 0; rank < 3; ++rank) next.start(rank);
  ASSERT_TRUE(next.processes().finish(Deadline::after(60s))) << next.processes().report();
  for (int rank = 0; rank < 3; ++rank) next.expect_success(rank);
  for (const std::size_t rank : {0U, 2U}) broken.processes().signal(rank, SIGUSR1);
  broken.finish();
}

TEST(Join, ANameCanBeUsedAgainAndAgain) {
  Job job("Joins", 2);
  for (int run = 0; run < 5; ++run) {
    job.start(0);
    job.start(1);
    ASSERT_TRUE(job.processes().wait_for_end(static_cast<std::size_t>(2 * run), Deadline::after(30s)));
    ASSERT_TRUE(job.processes().wait_for_end(static_cast<std::size_t>(2 * run + 1), Deadline::after(30s)));
  }
  job.finish();
  for (int process = 0; process < 10; ++process) job.expect_success(process);
}

}  // namespace
}  // namespace baton::test
