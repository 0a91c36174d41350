// Collectives of chips that are real processes: ranks that disagree, and ranks that die, end the waits of all others.
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <thread>

#include "disagreements.hpp"
#include "ending.hpp"
#include "job.hpp"
#include "support/rank_program.hpp"
#include "support/scenario_run.hpp"

namespace {

using namespace baton;
using namespace baton::test;

/// The call over and over, until somebody dies.
void repeat_until_death(Domain me, Level level) {
  std::thread killer;
  if (me.rank() == 2) {
    // In the middle of whatever the other thread does then.
    killer = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      tell("dying");
      ::kill(::getpid(), SIGKILL);
    });
  }
  repeat_calls(me, level);
}

const Wishes kProcesses = {.sizes = {4}, .hostings = {Hosting::processes}};

}  // namespace

SCENARIO(EveryDisagreement, {.sizes = {2, 5}, .hostings = {Hosting::processes}}) {
  for (const Level level : {Level::kernel, Level::graph}) {
    for (const Disagreement& one : disagreements(me.size(), level)) disagree(me, level, one);
  }
}

SCENARIO_BEFORE_JOIN(KernelsUntilDeath, kProcesses) {
  survives_with_error([&] { repeat_until_death(join_and_tell(me), Level::kernel); });
}
SCENARIO_BEFORE_JOIN(GraphsUntilDeath, kProcesses) {
  survives_with_error([&] { repeat_until_death(join_and_tell(me), Level::graph); });
}

namespace baton::test {
namespace {

TEST(ChipProcesses, ThatDisagreeLearnOfItWithBothSides) {
  for (const int size : {2, 5})
    EXPECT_TRUE(run_scenario(scenario_named("EveryDisagreement"), Hosting::processes, size));
}

TEST(ChipProcesses, LearnOfADeathInTheMiddleOfACollective) {
  for (const char* scenario : {"KernelsUntilDeath", "GraphsUntilDeath"}) {
    SCOPED_TRACE(scenario);
    Job job(scenario, 4);
    job.start();
    job.finish();
    for (const int rank : {0, 1, 3}) job.expect_caught(rank, "peer_died", {"rank 2 of"});
  }
}

}  // namespace
}  // namespace baton::test
