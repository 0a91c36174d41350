// Ranks of several hosts that die: all others learn of it, by rank and host, and no wait goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <csignal>

#include <fmt/format.h>

#include "deaths.hpp"
#include "job.hpp"
#include "support/hosts_lab.hpp"
#include "support/hub.hpp"
#include "support/rank_program.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using namespace std::chrono_literals;

class DeathOnHosts : public testing::TestWithParam<Death> {};

TEST_P(DeathOnHosts, IsToldToAll) {
  const HostsLab& lab = HostsLab::of_this_program();
  if (!lab.missing().empty()) GTEST_SKIP() << lab.missing();
  const auto [step, victim] = GetParam();
  const Hub hub;
  constexpr int kRanks = 4;
  const std::vector<std::uint32_t> host_of = spread_over_hosts(kRanks);
  Job job("Life", kRanks, ending(victim, step));
  for (int rank = 0; rank < kRanks; ++rank) {
    job.start(rank, kRanks, lab.environment(hub.path(), host_of, static_cast<std::uint32_t>(rank)));
  }
  job.finish();
  ASSERT_EQ(WTERMSIG(job.status(victim)), SIGKILL);
  const std::int64_t died = when_told(job.output(victim), "dying");
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == victim) continue;
    const auto victims_host = host_of[static_cast<std::size_t>(victim)];
    std::vector<std::string> parts = {fmt::format("rank {}", victim)};
    if (host_of[static_cast<std::size_t>(rank)] != victims_host) {
      parts.push_back(fmt::format("(pid {} on host {})", job.pid(victim), static_cast<char>('a' + victims_host)));
    }
    job.expect_caught(rank, "peer_died", parts);
    const std::int64_t seen = when_told(job.output(rank), "caught peer_died");
    if (died < 0 || seen < 0) continue;
    EXPECT_LT(std::chrono::nanoseconds(seen - died), 100ms + room_for_noise());
  }
}

INSTANTIATE_TEST_SUITE_P(, DeathOnHosts, testing::ValuesIn(deaths_in_life()), step_and_victim);

}  // namespace
}  // namespace baton::test
