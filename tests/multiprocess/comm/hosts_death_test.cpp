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

}  // namespace
}  // namespace baton::test
