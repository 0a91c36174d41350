// Graphs that are built once and run many times.
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "kernels.hpp"
#include "support/require.hpp"
#include "tensors.hpp"

namespace baton::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Capture, RunsNothingUntilItIsRunAndThenAsOftenAsOneLikes) {
  Chip chip;
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    for (int i = 0; i < 100; ++i) g.submit(add_one, y);
  });
  EXPECT_EQ(graph.task_count(), 100U);
  EXPECT_EQ(graph.edge_count(), 99U);
  EXPECT_THAT(values_of<float>(chip, y), Each(0.0F));
  for (int round = 1; round <= 5; ++round) {
    chip.run(graph);
    EXPECT_THAT(values_of<float>(chip, y), Each(100.0F * static_cast<float>(round)));
  }
}

TEST(Capture, AnEmptyGraphRuns) {
  Chip chip;
  CapturedGraph graph = chip.capture([](Graph&) {});
  chip.run(graph);
  EXPECT_EQ(graph.task_count(), 0U);
}

TEST(Capture, HoldsMoreTasksThanTheWindowAndManyRoots) {
  Chip chip({.task_window = 2});
  constexpr std::int64_t kCount = 5000;
  const Tensor y = chip.alloc<float>({kCount});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    for (std::int64_t i = 0; i < kCount; ++i) g.submit(add_one, y.slice(i, i + 1));
  });
  EXPECT_EQ(graph.edge_count(), 0U);
  for (int round = 0; round < 3; ++round) chip.run(graph);
  EXPECT_THAT(values_of<float>(chip, y), Each(3.0F));
}

TEST(Capture, BlocksClustersAndPrioritiesWorkInEachRun) {
  Chip chip({.clusters = 4});
  const Tensor numbers = chip.alloc<std::int32_t>({37});
  const Tensor meeting = chip.alloc<std::int32_t>({1});
  const Tensor parts = chip.alloc<std::int32_t>({2});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(kNumberBlocks, {{Access::out, numbers}}, {.blocks = 37});
    g.submit(kMeet, {{Access::inout, meeting}}, {.blocks = 8, .start_together = true});
    g.submit({.cube = &cube_part, .vector = {&vector_part, &vector_part}}, {{Access::inout, parts}}, {.priority = 3});
  });
  for (int round = 1; round <= 3; ++round) {
    chip.copy_in<std::int32_t>(numbers, std::vector<std::int32_t>(37));
    chip.copy_in<std::int32_t>(meeting, std::vector<std::int32_t>(1));
    chip.copy_in<std::int32_t>(parts, std::vector<std::int32_t>(2));
    chip.run(graph);
    EXPECT_EQ(values_of<std::int32_t>(chip, numbers)[36], 37036);
    EXPECT_THAT(values_of<std::int32_t>(chip, meeting), ElementsAre(8));
    EXPECT_THAT(values_of<std::int32_t>(chip, parts), ElementsAre(1, 2));
  }
}

TEST(Capture, OwnsItsOutputsAndTheyDieWithTheirScope) {
  Chip chip;
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    const Tensor between = g.output(DType::float32, {4});
    g.submit(twice, x, between);
    g.submit(twice, between, y);
  });
  // The heap of the chip is used by others meanwhile.
  for (int round = 0; round < 3; ++round) {
    chip.copy_in<float>(x, std::vector<float>(4, static_cast<float>(round)));
    chip.run([&](Graph& g) { g.submit(add_one, g.output(DType::float32, {4})); });
    chip.run(graph);
    EXPECT_THAT(values_of<float>(chip, y), Each(4.0F * static_cast<float>(round)));
  }
  require_error(Code::released, {"scope", "captured_test.cpp"}, [&] {
    static_cast<void>(chip.capture([&](Graph& g) {
      Tensor gone;
      {
        const auto scope = g.scope();
        gone = g.output(DType::float32, {4});
      }
      g.submit(add_one, gone);
    }));
  });
}

TEST(Capture, AnOutputThatDoesNotFitIsAnErrorWithTheNumbers) {
  Chip chip({.output_heap_bytes = 4096});
  require_error(Code::out_of_memory, {"BATON_OUTPUT_HEAP"}, [&] {
    static_cast<void>(chip.capture([&](Graph& g) {
      for (int i = 0; i < 2; ++i) {
        const auto scope = g.scope();
        g.submit(add_one, g.output(DType::float32, {1000}));
      }
    }));
  });
}

TEST(Bind, OtherMemoryIsUsedForOneRun) {
  Chip chip;
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  const Tensor other_x = chip.alloc<float>({4});
  const Tensor other_y = chip.alloc<float>({8});
  chip.copy_in<float>(x, std::vector<float>(4, 1.0F));
  chip.copy_in<float>(other_x, std::vector<float>(4, 10.0F));
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(twice, x.slice(0, 2), y.slice(0, 2));
    g.submit(twice, x.slice(2, 4), y.slice(2, 4));
    g.submit(add_one, y);
  });
  chip.run(graph, {{x, other_x}, {y, other_y}});
  EXPECT_THAT(values_of<float>(chip, y), Each(0.0F));
  EXPECT_THAT(values_of<float>(chip, other_y), ElementsAre(21, 21, 21, 21, 0, 0, 0, 0));
  chip.run(graph, {{y, other_y}});
  EXPECT_THAT(values_of<float>(chip, other_y), ElementsAre(3, 3, 3, 3, 0, 0, 0, 0));
  chip.run(graph);
  EXPECT_THAT(values_of<float>(chip, y), Each(3.0F));
  // Two that are only read may be the same.
  const Tensor z = chip.alloc<float>({4});
  CapturedGraph two = chip.capture([&](Graph& g) {
    g.submit(twice, x, y);
    g.submit(twice, other_x, z);
  });
  chip.run(two, {{other_x, x}});
  EXPECT_THAT(values_of<float>(chip, z), Each(2.0F));
}

TEST(Bind, WhatDoesNotFitIsRefused) {
  Chip chip;
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  const Tensor small = chip.alloc<float>({2});
  const Tensor unused = chip.alloc<float>({4});
  std::vector<float> foreign(4);
  CapturedGraph graph = chip.capture([&](Graph& g) { g.submit(twice, x, y); });
  require_error(Code::invalid_argument, {"no room"}, [&] { chip.run(graph, {{x, small}}); });
  require_error(Code::invalid_argument, {"does not use"}, [&] { chip.run(graph, {{unused, x}}); });
  require_error(Code::invalid_argument, {"two buffers that were apart", "no edge"}, [&] { chip.run(graph, {{y, x}}); });
  require_error(Code::released, {"not memory of this chip"}, [&] {
    chip.run(graph, {{x, Tensor::over(std::span(foreign))}});
  });
  Chip other;
  require_error(Code::invalid_argument, {"another one"}, [&] { other.run(graph); });
  chip.run(graph);
}

TEST(Capture, ScalarsCanBeChangedBetweenRuns) {
  Chip chip;
  const Tensor list = chip.alloc<std::int64_t>({8});
  TaskId task = 0;
  CapturedGraph graph = chip.capture([&](Graph& g) { task = g.submit(append, list, 7); });
  chip.run(graph);
  graph.set_scalar(task, 0, std::int64_t{9});
  chip.run(graph);
  EXPECT_THAT(values_of<std::int64_t>(chip, list), ElementsAre(2, 7, 9, 0, 0, 0, 0, 0));
  require_error(Code::invalid_argument, {"append", "1 scalars", "number 1"}, [&] { graph.set_scalar(task, 1, 0); });
  require_error(Code::invalid_argument, {"no task 2"}, [&] { graph.set_scalar(2, 0, 0); });
}

// Signals are never reset: a wait for the value of the first run would pass at once in the second.
TEST(Trap2Capture, EachRunWaitsForItsOwnNotification) {
  Chip chip({.clusters = 2, .threads = 1});
  const Tensor signal = chip.alloc<std::int32_t>({1});
  const Tensor list = chip.alloc<std::int64_t>({64});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    const Tensor token = g.submit_notification_wait(word_of(signal), 2);
    g.submit({.tokens = {token}}, append, list, 2);
    const auto scope = g.manual_scope();
    const TaskId first = g.submit(append, list, 1);
    g.submit({.after = {first}}, notify, signal, 2);
  });
  for (int round = 0; round < 5; ++round) chip.run(graph);
  const std::vector<std::int64_t> all = values_of<std::int64_t>(chip, list);
  EXPECT_EQ(all[0], 10);
  for (std::size_t round = 0; round < 5; ++round) {
    EXPECT_EQ(all[1 + 2 * round], 1) << "round " << round;
    EXPECT_EQ(all[2 + 2 * round], 2) << "round " << round;
  }
}

TEST(Capture, AFailureEndsTheRunAndTheNextOneIsWhole) {
  Chip chip;
  const Tensor y = chip.alloc<float>({4});
  const Tensor z = chip.alloc<float>({4});
  const Tensor choice = chip.alloc<float>({4});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(refuse, choice);
    g.submit(twice, choice, y);
    g.submit(add_one, y);
    g.submit(add_one, z);
  });
  for (int round = 1; round <= 3; ++round) {
    require_error(Code::invalid_argument,
                  {"refused on purpose", "refuse (task 1", "2 tasks did not run", "twice (task 2", "add_one (task 3"},
                  [&] { chip.run(graph); });
    EXPECT_THAT(values_of<float>(chip, y), Each(0.0F));
    EXPECT_THAT(values_of<float>(chip, z), Each(static_cast<float>(round)));
  }
}

TEST(Capture, WaitingInsideIsRefusedBecauseNothingRuns) {
  Chip chip;
  const Tensor y = chip.alloc<float>({4});
  const auto refused = [&](const char* what, const std::function<void(Graph&)>& action) {
    require_error(Code::invalid_argument, {what, "nothing runs"}, [&] { static_cast<void>(chip.capture(action)); });
  };
  refused("wait", [&](Graph& g) { g.wait(g.submit(add_one, y)); });
  refused("get", [&](Graph& g) {
    g.submit(add_one, y.slice(0, 1));
    static_cast<void>(g.get<float>(y, {0}));
  });
  refused("get", [&](Graph& g) { static_cast<void>(g.get<float>(g.output(DType::float32, {1}), {0})); });
  refused("set", [&](Graph& g) {
    g.submit(twice, y.slice(0, 1), y.slice(1, 2));
    g.set<float>(y, {0}, 1.0F);
  });
}

TEST(Capture, ReadsAndWritesElementsThatItsTasksDoNotUse) {
  Chip chip;
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.set<float>(y, {0}, 7.0F);
    g.submit(twice, y.slice(0, 1), y.slice(1, 2));
    EXPECT_EQ(g.get<float>(y, {0}), 7.0F);
    EXPECT_EQ(g.get<float>(y, {2}), 0.0F);
  });
  chip.run(graph);
  EXPECT_THAT(values_of<float>(chip, y), ElementsAre(7, 14, 0, 0));
}

TEST(Capture, OutputsBeginEveryRunWithTheirValue) {
  Chip chip;
  const Tensor y = chip.alloc<float>({3});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    const Tensor t = g.filled_output({3}, 2.0F);
    g.submit(add_one, t);
    g.submit(twice, t, y);
  });
  for (int round = 0; round < 3; ++round) {
    chip.run(graph);
    EXPECT_THAT(values_of<float>(chip, y), Each(6.0F));
  }
}

TEST(Capture, ASubmissionThatIsRefusedLeavesNoTask) {
  Chip chip;
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(add_one, y);
    EXPECT_THROW(g.submit(Kernel(add_one), {{Access::inout, y.reverse(0)}}), Error);
    g.submit(add_one, y);
  });
  EXPECT_EQ(graph.task_count(), 2U);
  chip.run(graph);
  EXPECT_THAT(values_of<float>(chip, y), Each(2.0F));
}

TEST(Capture, EdgesThatOthersImplyAreLeftOut) {
  Chip chip;
  const Tensor cells = chip.alloc<std::int64_t>({8});
  const Tensor sum = chip.alloc<std::int64_t>({1});
  const auto fans = [&](int count) {
    return chip.capture([&](Graph& g) {
      for (int fan = 0; fan < count; ++fan) {
        for (int i = 0; i < 8; ++i) g.submit(append, cells.slice(i, i + 1), 0);
        g.submit(renew, cells, sum, 0);
      }
    });
  };
  // Each join waits for its 8 cells, and each cell of the next fan for the join.
  EXPECT_EQ(fans(1).edge_count(), 8U);
  EXPECT_EQ(fans(40).edge_count(), 40U * 8U + 39U * 8U);
}

TEST(Capture, MemoryThatWasFreedIsRefusedAtSubmission) {
  Chip chip;
  const Tensor gone = chip.alloc<float>({4});
  chip.free(gone);
  require_error(Code::released, {"not memory of this chip"},
                [&] { static_cast<void>(chip.capture([&](Graph& g) { g.submit(add_one, gone); })); });
}

TEST(Capture, DrawsItself) {
  Chip chip;
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  const CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(twice, x, y);
    g.submit({.blocks = 3}, add_one, y);
  });
  const std::string drawing = graph.drawing();
  EXPECT_THAT(drawing, HasSubstr("digraph"));
  EXPECT_THAT(drawing, HasSubstr("t1 [label=\"1 twice\"]"));
  EXPECT_THAT(drawing, HasSubstr("t2 [label=\"2 add_one x 3\"]"));
  EXPECT_THAT(drawing, HasSubstr("t1 -> t2;"));
}

TEST(NamedEdges, OnlyTheNamedOnesHold) {
  Chip chip({.clusters = 2, .threads = 1});
  const Tensor list = chip.alloc<std::int64_t>({8});
  const CapturedGraph graph = chip.capture(
      [&](Graph& g) {
        const TaskId a = g.submit(append, list, 1);
        const TaskId b = g.submit(append, list, 2);
        g.submit({.after = {a, b, a}}, append, list, 3);
      },
      {.edges = Edges::named});
  // Inferred, there would be one between the first two; one that is named twice counts once.
  EXPECT_EQ(graph.edge_count(), 2U);
}

TEST(NamedEdges, ATokenStillCarriesItsEdge) {
  Chip chip({.clusters = 2, .threads = 1});
  const Tensor signal = chip.alloc<std::int32_t>({1});
  const Tensor list = chip.alloc<std::int64_t>({8});
  chip.run(
      [&](Graph& g) {
        const Tensor token = g.submit_notification_wait(word_of(signal), 1);
        g.submit({.tokens = {token}}, append, list, 2);
        g.submit({.after = {g.submit(append, list, 1)}}, notify, signal, 1);
      },
      {.edges = Edges::named});
  EXPECT_THAT(values_of<std::int64_t>(chip, list), ElementsAre(2, 1, 2, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace baton::test
