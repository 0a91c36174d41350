#include "job/launcher_environment.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/require.hpp"

namespace baton::job {
namespace {

using test::require_error;
using Variables = std::map<std::string, std::string, std::less<>>;

std::optional<Assignment> assignment_in(const Variables& variables,
                                        std::optional<std::string> launcher_process = "4711.99") {
  return find_assignment(
      [&](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      [&] { return launcher_process; });
}

void expect_place(const Variables& variables, int rank, int size, std::string_view rendezvous) {
  const auto assignment = assignment_in(variables);
  ASSERT_TRUE(assignment);
  EXPECT_EQ(assignment->rank, rank);
  EXPECT_EQ(assignment->size, size);
  EXPECT_EQ(assignment->rendezvous, rendezvous);
}

const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "2"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"PMIX_NAMESPACE", "1234567"},
                            {"PMIX_RANK", "2"}};
const Variables kMpich = {{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}, {"PMI_FD", "7"}};
const Variables kSrun = {{"SLURM_PROCID", "1"},   {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_NUM_NODES", "1"},
                         {"SLURM_JOB_ID", "800"}, {"SLURM_STEP_ID", "3"},        {"SLURM_NTASKS", "2"}};
const Variables kTorchrun = {{"RANK", "3"},
                             {"WORLD_SIZE", "4"},
                             {"LOCAL_WORLD_SIZE", "4"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_RUN_ID", "none"},
                             {"TORCHELASTIC_RESTART_COUNT", "0"}};
const Variables kBatonRun = {{"BATON_RANK", "5"}, {"BATON_SIZE", "6"}, {"BATON_JOB", "swift-otter"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}
Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

TEST(LauncherEnvironment, AloneIsNoPlace) {
  EXPECT_FALSE(assignment_in({}));
  EXPECT_FALSE(assignment_in({{"HOME", "/nowhere"}, {"PATH", "/bin"}}));
}

TEST(LauncherEnvironment, UnderstandsEachLauncher) {
  expect_place(kBatonRun, 5, 6, "baton run/swift-otter");
  expect_place(kOpenMpi, 2, 4, "mpirun (Open MPI)/1234567");
  expect_place(kMpich, 0, 3, "mpirun (MPICH)/4711.99");
  expect_place(kSrun, 1, 2, "srun/800/3");
  expect_place(kTorchrun, 3, 4, "torchrun/none/0/29500");
}

TEST(LauncherEnvironment, NamesTheLauncher) {
  EXPECT_EQ(assignment_in(kBatonRun)->launcher, "baton run");
  EXPECT_EQ(assignment_in(kTorchrun)->launcher, "torchrun");
}

TEST(LauncherEnvironment, TheInnermostLauncherCounts) {
  // `baton run` under mpirun under a batch system: what was started last.
  Variables all = kBatonRun;
  for (const Variables& more : {kOpenMpi, kMpich, kSrun, kTorchrun}) all.insert(more.begin(), more.end());
  expect_place(all, 5, 6, "baton run/swift-otter");
  all = kOpenMpi;
  all.insert(kSrun.begin(), kSrun.end());
  expect_place(all, 2, 4, "mpirun (Open MPI)/1234567");
}

TEST(LauncherEnvironment, DifferentJobsMeetInDifferentPlaces) {
  EXPECT_NE(assignment_in(kSrun)->rendezvous, assignment_in(with(kSrun, "SLURM_STEP_ID", "4"))->rendezvous);
  EXPECT_NE(assignment_in(kTorchrun)->rendezvous,
            assignment_in(with(kTorchrun, "TORCHELASTIC_RESTART_COUNT", "1"))->rendezvous);
  EXPECT_NE(assignment_in(kTorchrun)->rendezvous, assignment_in(with(kTorchrun, "MASTER_PORT", "29501"))->rendezvous);
  EXPECT_NE(assignment_in(kMpich, "1.1")->rendezvous, assignment_in(kMpich, "1.2")->rendezvous);
  EXPECT_EQ(assignment_in(kMpich, "1.1")->rendezvous, assignment_in(with(kMpich, "PMI_RANK", "2"), "1.1")->rendezvous);
}

TEST(LauncherEnvironment, ABatchScriptIsNoStep) {
  // In a batch script, before srun, there is a job but no step; RANK alone is anybody's variable.
  EXPECT_FALSE(assignment_in(without(kSrun, "SLURM_STEP_ID")));
  EXPECT_FALSE(assignment_in({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
}

TEST(LauncherEnvironment, HalfOfAPairIsAnError) {
  require_error(Code::bad_launcher_environment, {"BATON_RANK is set but BATON_SIZE is not"},
                [] { static_cast<void>(assignment_in(without(kBatonRun, "BATON_SIZE"))); });
  require_error(Code::bad_launcher_environment, {"OMPI_COMM_WORLD_SIZE is set but OMPI_COMM_WORLD_RANK is not"},
                [] { static_cast<void>(assignment_in(without(kOpenMpi, "OMPI_COMM_WORLD_RANK"))); });
  require_error(Code::bad_launcher_environment, {"PMI_RANK is set but PMI_SIZE is not", "MPICH"},
                [] { static_cast<void>(assignment_in(without(kMpich, "PMI_SIZE"))); });
}

TEST(LauncherEnvironment, NumbersMustBeNumbers) {
  for (const char* value : {"", "x", "-1", "1.5", "1 ", " 1", "99999999999", "0x1"}) {
    require_error(Code::bad_launcher_environment, {"BATON_RANK=", "\"" + std::string(value) + "\""},
                  [&] { static_cast<void>(assignment_in(with(kBatonRun, "BATON_RANK", value))); });
    require_error(Code::bad_launcher_environment, {"PMI_SIZE="},
                  [&] { static_cast<void>(assignment_in(with(kMpich, "PMI_SIZE", value))); });
  }
}

TEST(LauncherEnvironment, ARankMustBeInsideItsJob) {
  require_error(Code::bad_launcher_environment, {"BATON_RANK=6 is not a rank of BATON_SIZE=6"},
                [] { static_cast<void>(assignment_in(with(kBatonRun, "BATON_RANK", "6"))); });
  require_error(Code::bad_launcher_environment, {"WORLD_SIZE=0"},
                [] { static_cast<void>(assignment_in(with(kTorchrun, "WORLD_SIZE", "0"))); });
}

TEST(LauncherEnvironment, AnAgentBringsHostsTogether) {
  Variables variables = kBatonRun;
  variables["BATON_HOST_COUNT"] = "2";
  require_error(Code::unsupported, {"several hosts", "BATON_HOST_COUNT=2"},
                [&] { static_cast<void>(assignment_in(variables)); });
  variables["BATON_AGENT"] = "baton-agent-7";
  EXPECT_EQ(assignment_in(variables)->agent, "baton-agent-7");
  variables["BATON_HOST_COUNT"] = "1";
  EXPECT_EQ(assignment_in(variables)->agent, "");
}

TEST(LauncherEnvironment, SeveralHostsAreNoticedAndWhereRankZeroIs) {
  const auto on_several = [](const Variables& variables, std::string_view root) {
    const auto assignment = assignment_in(variables);
    ASSERT_TRUE(assignment);
    EXPECT_TRUE(assignment->several_hosts);
    EXPECT_EQ(assignment->root, root);
    EXPECT_FALSE(assignment->root_is_asked_for);
  };
  on_several(with(kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "2"), "");
  on_several(with(kMpich, "MPI_LOCALNRANKS", "1"), "");
  on_several(with(with(kSrun, "SLURM_STEP_NUM_NODES", "2"), "SLURM_STEP_NODELIST", "node[07-09]"), "node07");
  on_several(with(with(kTorchrun, "LOCAL_WORLD_SIZE", "2"), "MASTER_ADDR", "10.0.0.1"), "10.0.0.1");
  for (const Variables& one : {kOpenMpi, kMpich, kSrun, kTorchrun, kBatonRun})
    EXPECT_FALSE(assignment_in(with(one, "BATON_MEET", "b"))->several_hosts);
}

TEST(LauncherEnvironment, TheUserMayNameTheHostOfRankZero) {
  const auto assignment =
      assignment_in(with(with(with(kTorchrun, "LOCAL_WORLD_SIZE", "2"), "MASTER_ADDR", "a"), "BATON_MEET", "b:4711"));
  EXPECT_EQ(assignment->root, "b:4711");
  EXPECT_TRUE(assignment->root_is_asked_for);
}

TEST(LauncherEnvironment, OnSeveralHostsTheLauncherProcessNamesNoJob) {
  // It is another one on each of them.
  const Variables far = with(kMpich, "MPI_LOCALNRANKS", "1");
  EXPECT_EQ(assignment_in(far, "1.1")->rendezvous, assignment_in(far, "1.2")->rendezvous);
}

TEST(LauncherEnvironment, TheFirstHostOfAList) {
  for (const auto& [list, first] : std::map<std::string, std::string>{{"", ""},
                                                                      {"a", "a"},
                                                                      {"a,b", "a"},
                                                                      {"node[01-03,07],login", "node01"},
                                                                      {"node[5,7]", "node5"},
                                                                      {"rack[1-2]n[3-4].site,x", "rack1n3.site"},
                                                                      {"10.0.0.1", "10.0.0.1"},
                                                                      {"broken[1", "broken1"}}) {
    EXPECT_EQ(first_of_host_list(list), first) << list;
  }
}

TEST(LauncherEnvironment, AJobWithoutAnyNameIsAnError) {
  require_error(Code::bad_launcher_environment, {"mpirun (MPICH)", "no job name"},
                [] { static_cast<void>(assignment_in(kMpich, std::nullopt)); });
  EXPECT_EQ(assignment_in(with(kMpich, "PMI_JOBID", "j9"), std::nullopt)->rendezvous, "mpirun (MPICH)/j9");
}

}  // namespace
}  // namespace baton::job
