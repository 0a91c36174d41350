// Times of tasks on a GPU, and priorities, which they show.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "gpu_test.hpp"

namespace {

using baton::Access;
using baton::Chip;
using baton::Graph;
using baton::TaskOutcome;
using baton::TaskRecord;
using baton::Tensor;
using baton::test::GpuTest;

/// How far the clock of the GPU may be from that of the host.
constexpr std::int64_t kApartNs = 50'000;

const baton::Kernel& kernel(const char* name) {
  static const baton::KernelFile file = baton::KernelFile::compile({.source = CUDA_TEST_KERNELS, .platform = "cuda"});
  static std::map<std::string, baton::LoadedKernel> loaded;
  return loaded.try_emplace(name, file.kernel(name)).first->second.get();
}

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Records come by task.
std::vector<TaskRecord> records_of(const Chip& chip) {
  std::vector<TaskRecord> records = chip.task_profile().records;
  std::ranges::stable_sort(records, {}, &TaskRecord::task);
  return records;
}

class CudaProfile : public GpuTest {
 protected:
  static baton::ChipOptions options(int clusters = 0) {
    return {.platform = "cuda", .clusters = clusters, .profile = baton::ProfileMode::records};
  }
};

/// A chain of tasks of which each has the times of its kernel.
void expect_a_chain(const std::vector<TaskRecord>& records, std::int64_t before, std::int64_t after) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const TaskRecord& one = records[i];
    EXPECT_EQ(one.outcome, TaskOutcome::done) << i;
    EXPECT_GE(one.core, 0) << i;
    EXPECT_GE(one.started, before - kApartNs) << i;
    EXPECT_LE(one.returned, after + kApartNs) << i;
    // 200 steps, each of which waits for memory.
    EXPECT_GT(one.returned - one.started, 10'000) << i;
    if (i > 0) {
      EXPECT_GE(one.started, records[i - 1].returned) << i;
    }
  }
  std::printf("a chain of %zu tasks: ", records.size());
  for (const TaskRecord& one : records) {
    std::printf("%lld-%lld ", static_cast<long long>(one.started - before),
                static_cast<long long>(one.returned - before));
  }
  std::printf("ns after the host began\n");
}

TEST_F(CudaProfile, TellsWhenTasksRanOnTheClockOfTheHost) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int32_t>({1}, "cell");
  const std::int64_t before = now_ns();
  chip.run([&](Graph& graph) {
    for (int i = 0; i < 3; ++i) graph.submit(kernel("count_slowly"), {{Access::inout, cell}, std::int64_t{200}});
  });
  const std::vector<TaskRecord> records = records_of(chip);
  ASSERT_EQ(records.size(), 3U);
  expect_a_chain(records, before, now_ns());
}

TEST_F(CudaProfile, CapturedGraphsHaveTimesOfEachRun) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int32_t>({1}, "cell");
  baton::CapturedGraph graph = chip.capture([&](Graph& g) {
    for (int i = 0; i < 3; ++i) g.submit(kernel("count_slowly"), {{Access::inout, cell}, std::int64_t{200}});
  });
  for (int run = 0; run < 3; ++run) chip.run(graph);
  std::vector<TaskRecord> records = chip.task_profile().records;
  ASSERT_EQ(records.size(), 9U);
  std::ranges::sort(records, {}, &TaskRecord::started);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].task, i % 3 + 1);
    if (i > 0) {
      EXPECT_GE(records[i].started, records[i - 1].returned) << i;
    }
  }
}

TEST_F(CudaProfile, EveryTaskOfAThousandIsThereOnce) {
  Chip chip(options());
  const Tensor cells = chip.alloc<std::int32_t>({1000}, "cells");
  chip.run([&](Graph& graph) {
    for (int i = 0; i < 1000; ++i) {
      const Tensor one = cells.slice(i, i + 1);
      graph.submit(kernel("count_up"), {{Access::inout, one}, std::int64_t{1}});
    }
  });
  const std::vector<TaskRecord> records = records_of(chip);
  ASSERT_EQ(records.size(), 1000U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].task, i + 1);
    EXPECT_EQ(records[i].outcome, TaskOutcome::done);
    EXPECT_LE(records[i].started, records[i].returned);
  }
  std::uint64_t kernels = 0;
  for (const baton::CoreProfile& core : chip.task_profile().cores) kernels += core.kernels;
  EXPECT_EQ(kernels, 1000U);
}

/// More than a core keeps the times of.
TEST_F(CudaProfile, ALongChainHasAllItsTimes) {
  constexpr std::size_t kTasks = 10'000;
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int32_t>({1}, "cell");
  chip.run([&](Graph& graph) {
    for (std::size_t i = 0; i < kTasks; ++i) {
      graph.submit(kernel("count_up"), {{Access::inout, cell}, std::int64_t{1}});
    }
  });
  const std::vector<TaskRecord> records = records_of(chip);
  ASSERT_EQ(records.size(), kTasks);
  for (std::size_t i = 0; i < kTasks; ++i) {
    ASSERT_EQ(records[i].outcome, TaskOutcome::done) << i;
    ASSERT_NE(records[i].started, 0) << i;
    if (i > 0) {
      ASSERT_GE(records[i].started, records[i - 1].returned) << i;
    }
  }
}

TEST_F(CudaProfile, TellsWhatFailedAndWhatDidNotRun) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int32_t>({1}, "cell");
  const Tensor a = chip.alloc<float>({4096}, "a");
  for (int round = 0; round < 2; ++round) {
    EXPECT_THROW(chip.run([&](Graph& graph) {
      const baton::TaskId first = graph.submit(kernel("count_up"), {{Access::inout, cell}, std::int64_t{1}});
      const baton::TaskId failing = graph.submit(kernel("too_much"), {{Access::in, a}}, {.after = {first}});
      graph.submit(kernel("count_up"), {{Access::inout, cell}, std::int64_t{1}}, {.after = {failing}});
    }),
                 baton::Error);
  }
  const std::vector<TaskRecord> records = chip.task_profile().records;
  ASSERT_EQ(records.size(), 6U);
  for (std::size_t i = 0; i < 6; i += 3) {
    EXPECT_EQ(records[i].outcome, TaskOutcome::done);
    EXPECT_EQ(records[i + 1].outcome, TaskOutcome::failed);
    EXPECT_EQ(records[i + 2].outcome, TaskOutcome::not_run);
    EXPECT_EQ(records[i + 2].started, 0);
  }
}

TEST_F(CudaProfile, APredicateThatDoesNotHoldIsToldAsNotRun) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int32_t>({1}, "cell");
  const baton::Predicate never{.element = cell, .comparison = baton::WaitCmp::eq, .value = -1};
  chip.run([&](Graph& graph) {
    graph.submit(kernel("count_up"), {{Access::inout, cell}, std::int64_t{1}}, {.only_if = never});
    graph.submit(kernel("count_up"), {{Access::inout, cell}, std::int64_t{1}});
  });
  const std::vector<TaskRecord> records = records_of(chip);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].outcome, TaskOutcome::not_run);
  EXPECT_EQ(records[1].outcome, TaskOutcome::done);
}

/// On a few cores, of a graph whose tasks may all begin at once.
TEST_F(CudaProfile, TasksOfHigherPriorityBeginFirst) {
  Chip chip(options(1));
  constexpr std::int64_t kTasks = 30;
  const Tensor cells = chip.alloc<std::int32_t>({kTasks}, "cells");
  baton::CapturedGraph graph = chip.capture([&](Graph& g) {
    for (std::int64_t i = 0; i < kTasks; ++i) {
      const Tensor one = cells.slice(i, i + 1);
      const std::int32_t priority = i < kTasks / 2 ? 0 : 5;
      g.submit(kernel("count_slowly"), {{Access::inout, one}, std::int64_t{100}}, {.priority = priority});
    }
  });
  chip.run(graph);
  std::map<std::int16_t, std::vector<TaskRecord>> by_core;
  for (const TaskRecord& one : chip.task_profile().records) by_core[one.core].push_back(one);
  EXPECT_EQ(by_core.size(), 3U);
  for (auto& [core, records] : by_core) {
    std::ranges::sort(records, {}, &TaskRecord::started);
    const auto is_urgent = [](const TaskRecord& one) { return one.task > kTasks / 2; };
    EXPECT_TRUE(std::ranges::is_partitioned(records, is_urgent)) << "core " << core;
  }
}

}  // namespace
