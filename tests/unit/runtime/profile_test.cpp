// Times of tasks.
#include <algorithm>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const KernelProfile& kernel_named(const TaskProfile& profile, const std::string& name) {
  const auto found = std::ranges::find(profile.kernels, name, &KernelProfile::kernel);
  if (found == profile.kernels.end()) throw std::runtime_error("no kernel " + name + " in the profile");
  return *found;
}

std::vector<TaskRecord> records_of(const TaskProfile& profile, const std::string& kernel) {
  std::vector<TaskRecord> records;
  for (const TaskRecord& record : profile.records) {
    if (profile.names.at(record.kernel) == kernel) records.push_back(record);
  }
  return records;
}

TEST(Profile, EveryTaskHasItsTimesInOrder) {
  Chip chip({.profile = ProfileMode::records});
  const Tensor y = chip.alloc<float>({4});
  const Tensor numbers = chip.alloc<std::int32_t>({37});
  chip.run([&](Graph& g) {
    for (int i = 0; i < 200; ++i) g.submit(add_one, y);
    g.submit(kNumberBlocks, {{Access::out, numbers}}, {.blocks = 37});
  });
  const TaskProfile profile = chip.task_profile();
  ASSERT_EQ(profile.records.size(), 201U);
  EXPECT_EQ(kernel_named(profile, "add_one").count, 200U);
  std::int64_t before = 0;
  std::int64_t longest = 0;
  std::int64_t total = 0;
  for (const TaskRecord& record : records_of(profile, "add_one")) {
    EXPECT_GT(record.submitted, 0);
    EXPECT_GE(record.ready, record.submitted);
    EXPECT_GE(record.dispatched, record.ready);
    EXPECT_GE(record.started, record.dispatched);
    EXPECT_GE(record.returned, record.started);
    EXPECT_GE(record.completed, record.returned);
    EXPECT_EQ(record.outcome, TaskOutcome::done);
    EXPECT_GE(record.core, 0);
    longest = std::max(longest, record.returned - record.started);
    total += record.returned - record.started;
    before = std::max(before, record.completed);
  }
  EXPECT_NEAR(static_cast<double>(kernel_named(profile, "add_one").total_ns), static_cast<double>(total), 200.0);
  EXPECT_NEAR(static_cast<double>(kernel_named(profile, "add_one").max_ns), static_cast<double>(longest), 2.0);
  // 237 kernels: each block is one.
  std::uint64_t kernels = 0;
  for (const CoreProfile& core : profile.cores) kernels += core.kernels;
  EXPECT_EQ(kernels, 237U);
  EXPECT_GT(profile.elapsed_ns, 0);
}

TEST(Trap10Profile, DeferredTasksAreRecordedAndCompleteAfterTheirKernelReturned) {
  // With one thread the kernel has returned before the next one begins, so that it is deferred.
  Chip chip({.threads = 1, .profile = ProfileMode::records});
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  auto* word = reinterpret_cast<std::int32_t*>(flag.address());
  chip.run([&](Graph& g) {
    g.submit(kTwiceLater, {{Access::in, x}, {Access::out, y}, word});
    static_cast<void>(g.submit_notification_wait(word, 1));
    g.submit(add_one, y);
    g.submit(notify, flag, 1);
  });
  const TaskProfile profile = chip.task_profile();
  const auto later = records_of(profile, "twice_later");
  const auto wait = records_of(profile, "");
  const auto sender = records_of(profile, "notify");
  ASSERT_EQ(later.size(), 1U);
  ASSERT_EQ(wait.size(), 1U);
  ASSERT_EQ(sender.size(), 1U);
  EXPECT_EQ(later[0].outcome, TaskOutcome::deferred);
  EXPECT_GE(later[0].completed, sender[0].started);
  EXPECT_LE(later[0].returned, later[0].completed);
  EXPECT_EQ(wait[0].outcome, TaskOutcome::deferred);
  EXPECT_EQ(wait[0].started, 0);
  EXPECT_GE(records_of(profile, "add_one").at(0).ready, later[0].completed);
  EXPECT_EQ(kernel_named(profile, "twice_later").deferred, 1U);
  EXPECT_GE(profile.high_water.deferred, 1U);
}

TEST(Profile, FailedTasksAndThoseThatDidNotRunAreRecorded) {
  Chip chip({.profile = ProfileMode::records});
  const Tensor y = chip.alloc<float>({4});
  EXPECT_THROW(chip.run([&](Graph& g) {
    g.submit(refuse, y);
    g.submit(add_one, y);
  }),
               Error);
  const TaskProfile profile = chip.task_profile();
  ASSERT_EQ(profile.records.size(), 2U);
  EXPECT_EQ(records_of(profile, "refuse").at(0).outcome, TaskOutcome::failed);
  const TaskRecord skipped = records_of(profile, "add_one").at(0);
  EXPECT_EQ(skipped.outcome, TaskOutcome::not_run);
  EXPECT_EQ(skipped.started, 0);
  EXPECT_GT(skipped.completed, 0);
}

TEST(Profile, CapturedGraphsAreProfiledInEachRun) {
  Chip chip({.profile = ProfileMode::summary});
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    for (int i = 0; i < 10; ++i) g.submit(add_one, y);
  });
  for (int round = 0; round < 3; ++round) chip.run(graph);
  const TaskProfile profile = chip.task_profile();
  EXPECT_EQ(kernel_named(profile, "add_one").count, 30U);
  EXPECT_TRUE(profile.records.empty());
}

TEST(Profile, TheTableNamesKernelsCoresAndHighWaterMarks) {
  Chip chip({.task_window = 8, .profile = ProfileMode::summary});
  const Tensor y = chip.alloc<float>({4});
  chip.run([&](Graph& g) {
    for (int i = 0; i < 1000; ++i) g.submit(add_one, y);
    g.submit(add_one, g.output(DType::float32, {16}));
  });
  EXPECT_THAT(chip.task_profile().table(),
              AllOf(HasSubstr("kernel"), HasSubstr("add_one  1001"), HasSubstr("vector core"), HasSubstr("busy"),
                    HasSubstr("of 8 tasks in the window"), HasSubstr("64 of ")));
}

TEST(Profile, IsAnErrorUnlessAskedFor) {
  const Chip chip;
  require_error(Code::invalid_argument, {"not profiled", "BATON_PROFILE"},
                [&] { static_cast<void>(chip.task_profile()); });
}

}  // namespace
}  // namespace baton::test
