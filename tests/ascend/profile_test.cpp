// Priorities of tasks, and what profiles say of them.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ascend_fixture.hpp"

namespace baton::test {
namespace {

class AscendProfile : public Ascend {
 protected:
  static ChipOptions options(std::optional<ProfileMode> mode = ProfileMode::records) {
    return {.platform = ascend_platform("a2a3"), .output_heap_bytes = std::uint64_t{1} << 20U, .profile = mode};
  }
  static const Kernel& append(BatonCoreType core = BATON_CORE_VECTOR) { return ascend_kernel("a2a3", core, "append"); }
  static const TaskRecord& record(const TaskProfile& profile, std::uint64_t task) {
    const auto found = std::ranges::find(profile.records, task, &TaskRecord::task);
    if (found == profile.records.end()) throw std::runtime_error("no record of the task");
    return *found;
  }
};

TEST_F(AscendProfile, OfTasksThatMayBeginTheOneWithTheHighestPriorityGoesFirst) {
  Chip chip(options(ProfileMode::off));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const auto submit = [&](Graph& graph, std::int64_t digit, std::int32_t priority, std::vector<TaskId> after = {}) {
    return graph.submit(append(), {{Access::no_dependency, cell}, digit},
                        {.priority = priority, .after = std::move(after)});
  };
  chip.run([&](Graph& graph) {
    const TaskId first = submit(graph, 1, 0);
    submit(graph, 2, 5, {first});  // none overtakes what it waits for
    submit(graph, 3, 1);
    submit(graph, 4, 7);
    submit(graph, 5, 1);
    submit(graph, 6, -1);
  });
  std::int64_t order = 0;
  chip.copy_out<std::int64_t>(cell, {&order, 1});
  EXPECT_EQ(order, 435'126);
}

TEST_F(AscendProfile, TellsWhenEachTaskRan) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const Predicate never{.element = cell, .comparison = WaitCmp::eq, .value = -1};
  chip.run([&](Graph& graph) {
    graph.submit(append(), {{Access::inout, cell}, std::int64_t{1}});
    graph.submit(append(BATON_CORE_CUBE), {{Access::inout, cell}, std::int64_t{2}});
    graph.submit(append(), {{Access::inout, cell}, std::int64_t{3}}, {.only_if = never});
    graph.submit_empty({{Access::inout, cell}});
  });
  const TaskProfile profile = chip.task_profile();
  ASSERT_EQ(profile.records.size(), 4U);
  for (const std::uint64_t task : {1U, 2U}) {
    const TaskRecord& one = record(profile, task);
    EXPECT_EQ(one.outcome, TaskOutcome::done);
    EXPECT_EQ(one.core, task == 1 ? 1 : 0);  // vector, cube
    EXPECT_LE(one.submitted, one.dispatched);
    EXPECT_LE(one.dispatched, one.started);
    EXPECT_LE(one.started, one.returned);
    EXPECT_EQ(one.returned, one.completed);
  }
  EXPECT_LE(record(profile, 1).completed, record(profile, 2).ready);
  EXPECT_LE(record(profile, 1).returned, record(profile, 2).started);
  EXPECT_EQ(record(profile, 3).outcome, TaskOutcome::not_run);
  EXPECT_EQ(record(profile, 3).started, 0);
  EXPECT_EQ(record(profile, 4).outcome, TaskOutcome::done);
  const auto kernel = std::ranges::find(profile.kernels, "append", &KernelProfile::kernel);
  ASSERT_NE(kernel, profile.kernels.end());
  EXPECT_EQ(kernel->count, 3U);
  EXPECT_EQ(kernel->not_run, 1U);
}

TEST_F(AscendProfile, TellsWhatFailedAndWhatDidNotRun) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  standin::fail_kernel(2, 507035);
  const Error error = error_of([&] {
    chip.run([&](Graph& graph) {
      for (int i = 0; i < 3; ++i) graph.submit(append(), {{Access::inout, cell}, std::int64_t{1}});
    });
  });
  EXPECT_EQ(error.code(), Code::kernel_fault) << error.what();
  const TaskProfile profile = chip.task_profile();
  EXPECT_EQ(record(profile, 1).outcome, TaskOutcome::done);
  EXPECT_EQ(record(profile, 2).outcome, TaskOutcome::failed);
  EXPECT_EQ(record(profile, 3).outcome, TaskOutcome::not_run);
}

TEST_F(AscendProfile, TracesShowTasksInALaneForEachKindOfCore) {
  const std::string path = testing::TempDir() + "/ascend-" + std::to_string(::getpid()) + ".trace";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  // Another process: what is recorded in the library, not what a copy of that code in this program would.
  const std::string command =
      "BATON_TRACE=" + path + " " + self + " --gtest_filter=AscendProfile.TellsWhen* >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  // A mismatch would show the whole file.
  const auto has = [&](const char* text) { return content.find(text) != std::string::npos; };
  EXPECT_TRUE(has("vector cores"));
  EXPECT_TRUE(has("cube cores"));
  EXPECT_TRUE(has("profile_test.cpp"));  // where the tasks were submitted
  std::filesystem::remove(path);
}

TEST_F(AscendProfile, WithoutOneNobodyAsksForEventsInBetween) {
  const auto queries_of = [&](ProfileMode mode) {
    standin::reset_counts();
    Chip chip(options(mode));
    const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
    chip.run([&](Graph& graph) { graph.submit(append(), {{Access::inout, cell}, std::int64_t{1}}); });
    return standin::calls()["aclrtQueryEventStatus"];
  };
  // Only a run that is late asks how far it is: on a busy machine any of them may be, but not all.
  int runs = 1;
  while (queries_of(ProfileMode::off) != 0) ASSERT_LT(++runs, 50);
  EXPECT_GT(queries_of(ProfileMode::summary), 0);
}

}  // namespace
}  // namespace baton::test
