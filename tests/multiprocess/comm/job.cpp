#include "job.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "support/hosts_lab.hpp"
#include "support/rank_program.hpp"
#include "support/scale.hpp"
#include "support/scenario_run.hpp"

namespace baton::test {
namespace {

using namespace std::chrono_literals;

/// As window.hpp says.
constexpr auto kPromised = 100ms;

std::chrono::nanoseconds worst{0};

Deadline patience() { return Deadline::after(std::chrono::seconds(patience_seconds())); }

class Setup : public testing::Environment {
 public:
  void SetUp() override {
    if (!isolate_sockets()) std::cout << "sockets of other programs are in sight: those of a job are told by name\n";
  }
  void TearDown() override {
    std::cout << fmt::format("longest time from a death to an error about it: {:.1f} ms\n",
                             static_cast<double>(worst.count()) * 1e-6);
  }
};
[[maybe_unused]] testing::Environment* const setup = testing::AddGlobalTestEnvironment(new Setup);

}  // namespace

std::chrono::nanoseconds worst_delay() { return worst; }

Job::Job(std::string_view scenario, int size, std::vector<std::string> environment, Reaping reaping)
    : scenario_(scenario_named(scenario)),
      size_(size),
      environment_(std::move(environment)),
      name_(fresh_job_name()),
      processes_(reaping) {}

Job::Job(const Job& before, std::string_view scenario, int size)
    : scenario_(scenario_named(scenario)), size_(size), name_(before.name_) {}

void Job::start(int rank, int size, std::vector<std::string> environment) {
  environment.insert(environment.end(), environment_.begin(), environment_.end());
  processes_.start(rank_command(scenario_, Hosting::processes, size, rank, name_, std::move(environment)));
}

void Job::start() {
  start(0);
  wait_for_host();
  for (int rank = 1; rank < size_; ++rank) start(rank);
}

void Job::wait_for_host() {
  const Deadline deadline = patience();
  while (sockets_named({"job/" + name_}).empty()) {
    ASSERT_FALSE(deadline.passed()) << "no host came:\n" << processes_.report();
    std::this_thread::sleep_for(1ms);
  }
}

void Job::finish() {
  EXPECT_TRUE(processes_.finish(patience())) << "a rank runs on:\n" << processes_.report();
  std::vector<std::string> names = {name_};
  for (std::size_t i = 0; i < processes_.count(); ++i) {
    for (std::string& token : tokens_in(processes_.output(i))) names.push_back(std::move(token));
  }
  EXPECT_THAT(leftovers_.found(names), testing::IsEmpty());
}

void Job::expect_caught(int process, std::string_view code, const std::vector<std::string>& parts) const {
  EXPECT_GE(when_told(output(process), fmt::format("caught {}", code)), 0) << processes_.report();
  for (const std::string& part : parts) EXPECT_THAT(output(process), testing::HasSubstr(part)) << processes_.report();
}

std::chrono::nanoseconds Job::expect_death_seen(int process, int victim, std::string_view cause) const {
  expect_caught(process, "peer_died",
                {fmt::format("rank {}", victim), fmt::format("(pid {})", pid(victim)), std::string(cause)});
  const std::int64_t died = when_told(output(victim), "dying");
  const std::int64_t seen = when_told(output(process), "caught peer_died");
  if (died < 0 || seen < 0) return {};
  const std::chrono::nanoseconds delay(seen - died);
  worst = std::max(worst, delay);
  EXPECT_LT(delay, kPromised + room_for_noise()) << processes_.report();
  return delay;
}

void Job::start_on_hosts(const std::string& hub, const std::vector<std::uint32_t>& host_of) {
  for (int rank = 0; rank < size_; ++rank) {
    start(rank, size_, HostsLab::of_this_program().environment(hub, host_of, static_cast<std::uint32_t>(rank)));
  }
}

void Job::expect_death_seen_on_hosts(const std::vector<std::uint32_t>& host_of, int victim) const {
  const std::uint32_t victims_host = host_of[static_cast<std::size_t>(victim)];
  const std::int64_t died = when_told(output(victim), "dying");
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == victim) continue;
    std::vector<std::string> parts = {fmt::format("rank {}", victim)};
    if (host_of[static_cast<std::size_t>(rank)] != victims_host) {
      parts.push_back(fmt::format("(pid {} on host {})", pid(victim), static_cast<char>('a' + victims_host)));
    }
    expect_caught(rank, "peer_died", parts);
    const std::int64_t seen = when_told(output(rank), "caught peer_died");
    if (died < 0 || seen < 0) continue;
    EXPECT_LT(std::chrono::nanoseconds(seen - died), kPromised + room_for_noise()) << processes_.report();
  }
}

std::chrono::nanoseconds Job::time_to_end(int victim) const {
  const std::int64_t died = when_told(output(victim), "dying");
  return processes_.when_ended(static_cast<std::size_t>(victim)) - std::chrono::nanoseconds(died);
}

void Job::expect_success(int process) const {
  EXPECT_EQ(status(process), 0) << processes_.report();
  EXPECT_THAT(output(process), testing::Not(testing::HasSubstr("caught"))) << processes_.report();
}

}  // namespace baton::test
