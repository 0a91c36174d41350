// join(): real launchers where they are installed, and the environment that `baton run` gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <baton/join.hpp>

#include <fmt/format.h>

#include "support/processes.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

/// Joins as the environment says, twice: the second call returns the same job.
SCENARIO_BEFORE_JOIN(JoinsByEnvironment, {}) {
  baton::Domain domain = baton::join();
  baton::Domain same = baton::join();
  const baton::Signals signals = domain.signals("s", 1);
  signals.notify((domain.rank() + 1) % domain.size(), 0, domain.rank() + 1);
  const int left = (domain.rank() + domain.size() - 1) % domain.size();
  signals.wait(0, baton::WaitCmp::eq, left + 1);
  same.barrier();
  baton::test::tell(fmt::format("rank {} of {}", domain.rank(), domain.size()));
}

namespace baton::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> rank_arguments() { return {"rank", "JoinsByEnvironment", "Processes", "0", "0", "-"}; }

Deadline patience() { return Deadline::after(std::chrono::seconds(patience_seconds())); }

bool is_installed(const std::string& program) {
  for (const char* folder : {"/usr/bin/", "/usr/local/bin/"}) {
    if (::access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Command launch(std::vector<std::string> launcher, int ranks) {
  for (const std::string& word :
       {std::string("-n"), std::to_string(ranks), std::filesystem::read_symlink("/proc/self/exe").string()}) {
    launcher.push_back(word);
  }
  for (const std::string& word : rank_arguments()) launcher.push_back(word);
  return {launcher, {"OMPI_MCA_btl=^openib", "BATON_JOIN_TIMEOUT=60s", "BATON_WAIT_TIMEOUT=60s"}};
}

/// Two jobs of the same user at the same time must not meet.
void expect_two_jobs(const std::vector<std::string>& launcher) {
  Processes processes;
  processes.start(launch(launcher, 3));
  processes.start(launch(launcher, 2));
  EXPECT_TRUE(processes.finish(patience())) << processes.report();
  const int sizes[2] = {3, 2};
  for (std::size_t job = 0; job < 2; ++job) {
    EXPECT_EQ(processes.status(job), 0) << processes.report();
    for (int rank = 0; rank < sizes[job]; ++rank) {
      EXPECT_THAT(processes.output(job), HasSubstr(fmt::format("rank {} of {}", rank, sizes[job])));
    }
  }
}

TEST(Launchers, OpenMpi) {
  if (!is_installed("mpirun.openmpi"))
    GTEST_SKIP() << "mpirun.openmpi is not installed: joining under Open MPI is NOT tested";
  std::vector<std::string> launcher = {"mpirun.openmpi", "--oversubscribe"};
  if (::getuid() == 0) launcher.emplace_back("--allow-run-as-root");
  expect_two_jobs(launcher);
}

TEST(Launchers, Mpich) {
  if (!is_installed("mpirun.mpich")) GTEST_SKIP() << "mpirun.mpich is not installed: joining under MPICH is NOT tested";
  expect_two_jobs({"mpirun.mpich"});
}

TEST(Launchers, BatonRun) {
  Processes processes;
  const std::string job = fresh_job_name();
  for (int rank = 0; rank < 3; ++rank) {
    processes.start(this_program(rank_arguments(), {fmt::format("BATON_RANK={}", rank), "BATON_SIZE=3",
                                                    "BATON_JOB=" + job, "BATON_JOIN_TIMEOUT=60s"}));
  }
  EXPECT_TRUE(processes.finish(patience()));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(processes.status(rank), 0) << processes.report();
    EXPECT_THAT(processes.output(rank), HasSubstr(fmt::format("rank {} of 3", rank)));
  }
}

TEST(Launchers, Alone) {
  Processes processes;
  processes.start(this_program(rank_arguments()));
  EXPECT_TRUE(processes.finish(patience()));
  EXPECT_EQ(processes.status(0), 0) << processes.report();
  EXPECT_THAT(processes.output(0), HasSubstr("rank 0 of 1"));
}

TEST(Launchers, ContradictionsAreErrors) {
  Processes processes;
  processes.start(this_program(rank_arguments(), {"BATON_RANK=3", "BATON_SIZE=3", "BATON_JOB=x"}));
  processes.start(this_program(rank_arguments(), {"BATON_RANK=3"}));
  processes.start(this_program(rank_arguments(), {"OMPI_COMM_WORLD_SIZE=3"}));
  EXPECT_TRUE(processes.finish(patience()));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(WEXITSTATUS(processes.status(i)), 1);
    EXPECT_THAT(processes.output(i), HasSubstr("BATON-E024"));
  }
  EXPECT_THAT(processes.output(0), HasSubstr("BATON_RANK=3 is not a rank of BATON_SIZE=3"));
  EXPECT_THAT(processes.output(1), HasSubstr("BATON_RANK is set but BATON_SIZE is not"));
  EXPECT_THAT(processes.output(2), HasSubstr("OMPI_COMM_WORLD_SIZE is set but OMPI_COMM_WORLD_RANK is not"));
}

}  // namespace
}  // namespace baton::test
