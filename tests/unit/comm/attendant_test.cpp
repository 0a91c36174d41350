// The thread that watches a neighbour's life.
#include "comm/backends/shm/attendant.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "base/parking.hpp"
#include "comm/health.hpp"
#include "support/processes.hpp"

namespace baton::shm {
namespace {

using namespace std::chrono_literals;

/// This process is rank 0; a child that sleeps is rank 1.
class AttendantTest : public testing::Test {
 protected:
  AttendantTest() {
    neighbour_.start({{"sleep", "1000"}, {}});
    const ProcessId self = this_process();
    comm::enter_rank(control_.header(), 0, self.pid, self.start_time);
    const auto pid = static_cast<std::uint32_t>(neighbour_.pid(0));
    comm::enter_rank(control_.header(), 1, pid, process_start_time(pid).value_or(0));
  }

  void kill_neighbour() {
    neighbour_.signal(0, SIGKILL);
    ASSERT_TRUE(neighbour_.wait_for_end(0, Deadline::after(10s)));
  }

  /// Sleeps as any waiter of rank 0 does, until rank 1 is marked.
  bool death_is_told() {
    wire::ControlHeader& header = control_.header();
    const ParkingPlace place{&wire::doorbell_of(header, 0), FutexScope::shared, Crowding::crowded};
    return wait_until(
        place, [&] { return comm::state_of(header, 1) == wire::RankState::dead; }, Deadline::after(20s), [] {});
  }

  test::Processes neighbour_{test::Reaping::at_once};
  comm::JobToken token_ = comm::make_token();
  comm::ControlSegment control_ = comm::make_control(2, "job", token_, comm::Hosting::processes, 2);
  Mailroom mailroom_{token_, 0};
};

TEST_F(AttendantTest, TellsOfADeath) {
  const Attendant attendant(control_.header(), 0, mailroom_, UniqueFd(), "job");
  EXPECT_EQ(comm::state_of(control_.header(), 1), wire::RankState::live);
  kill_neighbour();
  EXPECT_TRUE(death_is_told());
}

TEST_F(AttendantTest, WatchesWithoutDescriptorsToSpare) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // One more, which the attendant takes to be poked.
  const int next = ::dup(0);
  ::close(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  {
    const Attendant attendant(control_.header(), 0, mailroom_, UniqueFd(), "job");
    kill_neighbour();
    EXPECT_TRUE(death_is_told());
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(AttendantTest, EndsWhileItsNeighbourLives) {
  for (int i = 0; i < 20; ++i) {
    Attendant attendant(control_.header(), 0, mailroom_, UniqueFd(), "job");
    if (i % 2 == 0) attendant.poke();
  }
  EXPECT_EQ(comm::state_of(control_.header(), 1), wire::RankState::live);
}

}  // namespace
}  // namespace baton::shm
