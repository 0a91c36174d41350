// Ranks of several hosts that die: all others learn of it, by rank and host, and no wait goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <csignal>

#include "deaths.hpp"
#include "job.hpp"
#include "support/hosts_lab.hpp"
#include "support/hub.hpp"

namespace baton::test {
namespace {

class DeathOnHosts : public testing::TestWithParam<Death> {};

TEST_P(DeathOnHosts, IsToldToAll) {
  const HostsLab& lab = HostsLab::of_this_program();
  if (!lab.missing().empty()) GTEST_SKIP() << lab.missing();
  const auto [step, victim] = GetParam();
  const Hub hub;
  constexpr int kRanks = 4;
  const std::vector<std::uint32_t> host_of = spread_over_hosts(kRanks);
  Job job("Life", kRanks, ending(victim, step));
  job.start_on_hosts(hub.path(), host_of);
  job.finish();
  ASSERT_EQ(WTERMSIG(job.status(victim)), SIGKILL);
  job.expect_death_seen_on_hosts(host_of, victim);
}

INSTANTIATE_TEST_SUITE_P(, DeathOnHosts, testing::ValuesIn(deaths_in_life()), step_and_victim);

/// Puts and gets that go on by themselves, to three ranks on two other hosts: they do not wait for each other, and
/// those with a rank that is killed end with an error that says so.
TEST(TransfersBetweenHosts, AreOnTheirWayTogetherAndEndWithTheirPeer) {
  const HostsLab& lab = HostsLab::of_this_program();
  if (!lab.missing().empty()) GTEST_SKIP() << lab.missing();
  const Hub hub;
  Job job("TransfersToStopped", 4);
  job.start_on_hosts(hub.path(), {0, 1, 2, 2});
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(job.pid(1)), &info, WSTOPPED | WEXITED | WNOWAIT), 0);
  ASSERT_EQ(info.si_code, CLD_STOPPED);
  job.processes().signal(0, SIGUSR1);
  ASSERT_TRUE(job.processes().wait_for_output(0, "others done", Deadline::after(std::chrono::seconds(60))))
      << job.processes().report();
  job.processes().signal(1, SIGKILL);
  job.finish();
  const std::string victim = fmt::format("rank 1 (pid {} on host b)", job.pid(1));
  job.expect_caught(0, "peer_died", {"a put did not reach " + victim, "a get did not reach " + victim});
}

TEST(PathsBetweenHosts, ThatLoseWhatIsSentAreNamedWhereSomebodyWaits) {
  const HostsLab& lab = HostsLab::of_this_program();
  if (!lab.missing().empty()) GTEST_SKIP() << lab.missing();
  const Hub hub;
  lab.lose(0, 1);
  Job job("WaitsInVain", 2);
  job.start_on_hosts(hub.path(), {0, 1});
  job.finish();
  lab.lose_no_more(0, 1);
  job.expect_caught(0, "wait_timeout",
                    {"rank 0 asked it at 10.", "ago and had no answer: a firewall may drop what goes there"});
}

}  // namespace
}  // namespace baton::test
