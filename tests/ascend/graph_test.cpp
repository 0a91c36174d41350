// Graphs on platforms a2a3 and a5: the same kernels, results and calls as on simulated chips.
#include <random>
#include <vector>

#include "ascend_fixture.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;

Argument in(const Tensor& tensor) { return {Access::in, tensor}; }
Argument out(const Tensor& tensor) { return {Access::out, tensor}; }
Argument inout(const Tensor& tensor) { return {Access::inout, tensor}; }
Argument number(std::int64_t value) { return value; }

ChipOptions options_of(const std::string& platform) {
  return {.platform = ascend_platform(platform), .output_heap_bytes = std::uint64_t{1} << 20U};
}

class AscendGraph : public Ascend, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Ascend::SetUp();
    standin::set_architecture(platform() == "a5" ? 3510 : 2201);
  }
  static std::string platform() { return GetParam(); }
  static const Kernel& vector(const char* name) { return ascend_kernel(platform(), BATON_CORE_VECTOR, name); }
  static const Kernel& cube(const char* name) { return ascend_kernel(platform(), BATON_CORE_CUBE, name); }
};
INSTANTIATE_TEST_SUITE_P(Both, AscendGraph, testing::Values("a2a3", "a5"),
                         [](const auto& tested) { return std::string(tested.param); });

std::int64_t value(Chip& chip, const Tensor& cell) {
  std::int64_t result = 0;
  chip.copy_out<std::int64_t>(cell, {&result, 1});
  return result;
}

TEST_P(AscendGraph, GivesTheBitsOfTheSimulator) {
  constexpr std::int64_t kCount = 5'003;
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> any(-10, 10);
  std::vector<float> first(kCount);
  std::vector<float> second(kCount);
  for (float& x : first) x = any(generator);
  for (float& x : second) x = any(generator);
  const auto sum_on = [&](const ChipOptions& options) {
    Chip chip(options);
    const Tensor a = chip.alloc<float>({kCount}, "a");
    const Tensor b = chip.alloc<float>({kCount}, "b");
    const Tensor sum = chip.alloc<float>({kCount}, "sum");
    chip.copy_in<float>(a, first);
    chip.copy_in<float>(b, second);
    chip.run([&](Graph& graph) {
      for (std::int64_t i = 0; i < kCount; i += 1024) {
        const std::int64_t end = std::min<std::int64_t>(i + 1024, kCount);
        const Tensor parts[] = {a.slice(i, end), b.slice(i, end), sum.slice(i, end)};
        graph.submit(vector("add"), {in(parts[0]), in(parts[1]), out(parts[2])});
      }
    });
    std::vector<float> result(kCount);
    chip.copy_out<float>(sum, result);
    return result;
  };
  EXPECT_EQ(sum_on(options_of(platform())), sum_on({.platform = platform() + "sim"}));
}

TEST_P(AscendGraph, TellsItsCoresAndItsMemoryIsNotTheHosts) {
  Chip chip(options_of(platform()));
  EXPECT_EQ(chip.clusters(), 4);
  std::vector<float> mine(16);
  EXPECT_EQ(error_of([&] { static_cast<void>(chip.add(std::span(mine), "mine")); }).code(), Code::unsupported);
}

TEST_P(AscendGraph, EdgesBetweenCubeAndVectorCoresHold) {
  Chip chip(options_of(platform()));
  const Tensor cells = chip.alloc<std::int64_t>({4}, "cells");
  chip.run([&](Graph& graph) {
    for (int round = 0; round < 16; ++round) {
      for (int i = 0; i < 4; ++i) {
        const Tensor cell = cells.slice(i, i + 1);
        graph.submit((round + i) % 2 == 0 ? vector("append") : cube("append"), {inout(cell), number(1 + round % 9)});
      }
    }
  });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(value(chip, cells.slice(i, i + 1)), 1'234'567'891'234'567);
}

TEST_P(AscendGraph, BlocksKnowTheirNumbersAndMayMeet) {
  Chip chip(options_of(platform()));
  const auto blocks = static_cast<std::uint32_t>(chip.vector_cores());
  const Tensor numbered = chip.alloc<std::int32_t>({blocks}, "numbered");
  const Tensor arrived = chip.alloc<std::int32_t>({1}, "arrived");
  chip.run([&](Graph& graph) {
    graph.submit(vector("meet"), {inout(arrived)}, {.blocks = blocks, .start_together = true});
    graph.submit(vector("number_blocks"), {out(numbered)}, {.blocks = blocks});
  });
  std::vector<std::int32_t> result(blocks);
  chip.copy_out<std::int32_t>(numbered, result);
  for (std::uint32_t i = 0; i < blocks; ++i) EXPECT_EQ(result[i], static_cast<std::int32_t>(i * 1000 + blocks));
  const Error error = error_of([&] {
    chip.run([&](Graph& graph) {
      graph.submit(vector("meet"), {inout(arrived)}, {.blocks = blocks + 1, .start_together = true});
    });
  });
  EXPECT_EQ(error.code(), Code::invalid_argument) << error.what();
}

TEST_P(AscendGraph, CapturedGraphsRunManyTimesWithOtherBuffers) {
  Chip chip(options_of(platform()));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const Tensor other = chip.alloc<std::int64_t>({1}, "other");
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(vector("append"), {inout(cell), number(1)});
    g.submit(cube("append"), {inout(cell), number(2)});
  });
  chip.run(graph);
  chip.run(graph, {{cell, other}});
  chip.run(graph);
  EXPECT_EQ(value(chip, cell), 1212);
  EXPECT_EQ(value(chip, other), 12);
}

TEST_P(AscendGraph, AnOrchestrationMayLookAtWhatTasksWrote) {
  Chip chip(options_of(platform()));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  chip.run([&](Graph& graph) {
    graph.submit(vector("append"), {inout(cell), number(3)});
    EXPECT_EQ(graph.get<std::int64_t>(cell, {0}), 3);
    graph.set<std::int64_t>(cell, {0}, 7);
    graph.submit(cube("append"), {inout(cell), number(4)});
  });
  EXPECT_EQ(value(chip, cell), 74);
}

TEST_P(AscendGraph, RunsMoreTasksThanThereAreEvents) {
  Chip chip(options_of(platform()));
  const Tensor cells = chip.alloc<std::int64_t>({2}, "cells");
  const Tensor first = cells.slice(0, 1);
  const Tensor second = cells.slice(1, 2);
  chip.run([&](Graph& graph) {
    for (int i = 0; i < 1100; ++i) {
      graph.submit(vector("append"), {inout(first), number(0)});
      graph.submit(cube("append"), {inout(second), number(0)});
    }
    graph.submit(vector("append"), {inout(first), number(1)});
    graph.submit(vector("append"), {inout(second), number(2)});
  });
  EXPECT_EQ(value(chip, first), 1);
  EXPECT_EQ(value(chip, second), 2);
  EXPECT_LE(standin::calls()["aclrtCreateEventExWithFlag"], 1024);
}

TEST_P(AscendGraph, TasksWithAPredicateRunIfItHolds) {
  Chip chip(options_of(platform()));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const Tensor flag = chip.alloc<std::int64_t>({1}, "flag");
  chip.run([&](Graph& graph) {
    graph.submit(vector("append"), {inout(flag), number(5)});
    for (const WaitCmp comparison : {WaitCmp::eq, WaitCmp::ne, WaitCmp::gt, WaitCmp::ge, WaitCmp::lt, WaitCmp::le}) {
      const Predicate holds{.element = flag, .comparison = comparison, .value = 5};
      graph.submit(vector("append"), {inout(cell), number(1 + static_cast<int>(comparison))}, {.only_if = holds});
    }
  });
  EXPECT_EQ(value(chip, cell), 146);  // ==, >=, <=
}

/// The address of a counter in memory of the chip.
const std::int32_t* counter_of(const Tensor& cell) { return reinterpret_cast<const std::int32_t*>(cell.address()); }

TEST_P(AscendGraph, WhileATaskWaitsForACounterOthersGoOn) {
  Chip chip(options_of(platform()));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const Tensor counter = chip.alloc<std::int64_t>({1}, "counter");
  chip.run([&](Graph& graph) {
    const Tensor token = graph.submit_notification_wait(counter_of(counter), 5);
    graph.submit(vector("append"), {inout(cell), number(7)}, {.tokens = {token}});
    // Behind it, and what it waits for.
    graph.submit(cube("append"), {inout(counter), number(5)});
  });
  EXPECT_EQ(value(chip, cell), 7);
}

TEST_P(AscendGraph, ACounterThatNobodyRaisesIsAnErrorAtTheDeadlineWithBothNumbers) {
  Chip chip(options_of(platform()));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const Tensor counter = chip.alloc<std::int64_t>({1}, "counter");
  const Error error = error_of([&] {
    chip.run([&](Graph& graph) {
      graph.submit(cube("append"), {inout(counter), number(3)});
      const Tensor token = graph.submit_notification_wait(counter_of(counter), 5);
      graph.submit(vector("append"), {inout(cell), number(7)}, {.tokens = {token}});
    });
  });
  EXPECT_EQ(error.code(), Code::wait_timeout) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("a counter that has 3 and needs 5"));
  EXPECT_THAT(error.what(), HasSubstr("1 task did not run: append"));
}

TEST_P(AscendGraph, WhatItsCodeDoesNotHaveIsRefused) {
  Chip chip(options_of(platform()));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const Error blocks = error_of([&] {
    chip.run([&](Graph& graph) { graph.submit(vector("append"), {inout(cell), number(1)}, {.blocks = 65536}); });
  });
  EXPECT_EQ(blocks.code(), Code::out_of_range) << blocks.what();
  EXPECT_THAT(blocks.what(), HasSubstr("65536 blocks; at most 65535"));
}

TEST_P(AscendGraph, AKernelWithoutCodeForTheChipSaysHowToGetIt) {
  Chip chip(options_of(platform()));
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const Kernel& host_only = ascend_kernel("", BATON_CORE_VECTOR, "append");
  const Error error = error_of([&] {
    chip.run([&](Graph& graph) { graph.submit(host_only, {inout(cell), number(1)}); });
  });
  EXPECT_EQ(error.code(), Code::not_a_kernel);
  EXPECT_THAT(error.what(), HasSubstr("--platform " + platform()));
}

TEST_P(AscendGraph, AChipOfAnotherGenerationIsRefusedByName) {
  standin::set_architecture(platform() == "a5" ? 2201 : 3510);
  const Error error = error_of([&] { const Chip chip(options_of(platform())); });
  EXPECT_EQ(error.code(), Code::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("StandIn"));
  EXPECT_THAT(error.what(), HasSubstr("a2a3 is for architecture 2201, a5 for 3510"));
}

TEST_P(AscendGraph, FewerClustersThanTheChipHasMayBeAskedFor) {
  ChipOptions options = options_of(platform());
  options.clusters = 1;
  {
    Chip chip(options);
    EXPECT_EQ(chip.clusters(), 1);
  }
  options.clusters = 1000;
  const Error error = error_of([&] { const Chip chip(options); });
  EXPECT_EQ(error.code(), Code::out_of_range) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("clusters, and 1000 are wanted"));
}

TEST_P(AscendGraph, AChipThatIsNotThereIsToldWithTheirNumber) {
  ChipOptions options = options_of(platform());
  options.device = 8;
  const Error error = error_of([&] { const Chip chip(options); });
  EXPECT_EQ(error.code(), Code::out_of_range);
  EXPECT_THAT(error.what(), HasSubstr("no Ascend chip 8: this machine shows 8"));
}

}  // namespace
}  // namespace baton::test
