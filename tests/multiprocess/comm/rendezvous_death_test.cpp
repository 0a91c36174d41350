// Deaths while a job comes together, between any two messages of the rendezvous.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "job.hpp"
#include "support/rank_program.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;

class Trap6GuestDies : public testing::TestWithParam<const char*> {};

TEST_P(Trap6GuestDies, IsToldToAll) {
  Job job("GuestByHand", 4, {"TEST_VICTIMS=2", fmt::format("TEST_STEP={}", GetParam())});
  job.start();
  job.finish();
  for (const int rank : {0, 1, 3}) job.expect_death_seen(rank, 2);
}

INSTANTIATE_TEST_SUITE_P(, Trap6GuestDies,
                         testing::Values("said_hello", "was_welcomed", "has_mail", "said_ready", "heard_go"),
                         [](const auto& param) { return std::string(param.param); });

TEST(Trap6GuestDeath, BeforeItSaidWhoItIsIsMissing) {
  Job job("GuestByHand", 4, {"TEST_VICTIMS=2", "TEST_STEP=connected"});
  job.start();
  job.finish();
  job.expect_caught(0, "join_timeout", {"rank 2 of 4 did not arrive"});
  for (const int rank : {1, 3}) job.expect_caught(rank, "join_timeout", {job.name()});
}

class Trap6HostDies : public testing::TestWithParam<const char*> {};

TEST_P(Trap6HostDies, IsToldToAll) {
  Job job("HostByHand", 4, {"TEST_VICTIMS=0", fmt::format("TEST_STEP={}", GetParam())});
  job.start();
  job.finish();
  for (const int rank : {1, 2, 3}) job.expect_death_seen(rank, 0);
}

INSTANTIATE_TEST_SUITE_P(, Trap6HostDies, testing::Values("welcomed_all", "all_ready", "go_to_all"),
                         [](const auto& param) { return std::string(param.param); });

TEST(Trap6HostDeath, BeforeItAdmittedAnybodyAndTheOthersGatherWithoutIt) {
  Job job("HostByHand", 4, {"TEST_VICTIMS=0", "TEST_STEP=accepted"});
  job.start();
  job.finish();
  int named = 0;
  for (const int rank : {1, 2, 3}) {
    job.expect_caught(rank, "join_timeout", {job.name()});
    if (job.output(rank).find("rank 0 of 4 did not arrive") != std::string::npos) ++named;
  }
  // The new host knows who is missing, and tells those who still listen.
  EXPECT_GE(named, 1) << job.processes().report();
}

TEST(Trap6HostDeath, AfterItWelcomedOne) {
  Job job("HostByHand", 4, {"TEST_VICTIMS=0", "TEST_STEP=welcomed_one"});
  job.start();
  job.finish();
  job.expect_death_seen(1, 0);
  for (const int rank : {2, 3}) job.expect_caught(rank, "join_timeout", {job.name()});
}

TEST(Trap6HostDeath, AfterItLetOneGo) {
  Job job("HostByHand", 4, {"TEST_VICTIMS=0", "TEST_STEP=go_to_one"});
  job.start();
  job.finish();
  for (const int rank : {2, 3}) job.expect_death_seen(rank, 0);
  // Rank 1 has a job in which the others came to nothing; it learns of one of them.
  job.expect_caught(1, "peer_died", {"died", "(pid "});
}

}  // namespace
}  // namespace baton::test
