// Captured graphs as parts of others.
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

/// y = 2 * (2 * x + 1), through an output.
CapturedGraph layer(Chip& chip, const Tensor& x, const Tensor& y) {
  return chip.capture([&](Graph& g) {
    const Tensor t = g.output(DType::float32, {4});
    g.submit(twice, x, t);
    g.submit(add_one, t);
    g.submit(twice, t, y);
  });
}

TEST(SubmitGraph, IsOrderedWithWhatStandsAroundIt) {
  Chip chip;
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph graph = layer(chip, x, y);
  chip.run([&](Graph& g) {
    g.submit(add_one, x);
    g.submit_graph(graph);
    g.submit(add_one, y);
    g.submit_graph(graph, {{x, y}, {y, x}});
  });
  EXPECT_THAT(values_of<float>(chip, y), Each(7.0F));
  EXPECT_THAT(values_of<float>(chip, x), Each(30.0F));
  // The graph itself is as it was.
  chip.copy_in<float>(x, std::vector<float>{1, 2, 3, 4});
  chip.run(graph);
  EXPECT_THAT(values_of<float>(chip, y), ElementsAre(6, 10, 14, 18));
}

TEST(SubmitGraph, ManyTimesWithOtherMemoryEachHasOutputsOfItsOwn) {
  Chip chip({.task_window = 16, .output_heap_bytes = 1 << 20});
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  constexpr std::int64_t kCount = 300;
  const Tensor in = chip.alloc<float>({kCount, 4});
  const Tensor out = chip.alloc<float>({kCount, 4});
  std::vector<float> values(4 * kCount);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  chip.copy_in<float>(in, values);
  CapturedGraph graph = layer(chip, x, y);
  const auto row = [](const Tensor& of, std::int64_t i) {
    return Tensor({.address = of.address() + static_cast<std::uint64_t>(i) * 16, .bytes = 16}, DType::float32, {4});
  };
  chip.run([&](Graph& g) {
    for (std::int64_t i = 0; i < kCount; ++i) g.submit_graph(graph, {{x, row(in, i)}, {y, row(out, i)}});
  });
  for (float& value : values) value = 2 * (2 * value + 1);
  EXPECT_EQ(values_of<float>(chip, out), values);
}

TEST(SubmitGraph, InsideOfAnotherCapturedGraph) {
  Chip chip;
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph inner = layer(chip, x, y);
  CapturedGraph outer = chip.capture([&](Graph& g) {
    g.submit_graph(inner);
    g.submit_graph(inner, {{x, y}, {y, x}});
  });
  EXPECT_EQ(outer.task_count(), 6U);
  chip.run(outer);
  EXPECT_THAT(values_of<float>(chip, x), Each(10.0F));
  chip.run(outer);
  EXPECT_THAT(values_of<float>(chip, x), Each(2 * (2 * 42.0F + 1)));
}

TEST(SubmitGraph, KeepsWhatTasksAre) {
  Chip chip({.clusters = 2});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  const Tensor signal = chip.alloc<std::int32_t>({1});
  const Tensor parts = chip.alloc<std::int32_t>({3});
  const Tensor blocks = chip.alloc<std::int32_t>({30});
  const Tensor y = chip.alloc<float>({2});
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(ClusterTask{.cube = &cube_part, .vector = {&vector_part, &vector_part}}, {{Access::inout, parts}});
    g.submit(kNumberBlocks, {{Access::inout, blocks}}, {.blocks = 30});
    TaskOptions unless;
    unless.only_if = Predicate{flag, WaitCmp::ne, 0};
    g.submit(unless, add_one, y.slice(0, 1));
    const Tensor token = g.submit_notification_wait(reinterpret_cast<const std::int32_t*>(signal.address()), 1);
    TaskOptions after;
    after.tokens = {token};
    g.submit(after, add_one, y.slice(1, 2));
    const Tensor filled = g.filled_output({1}, 5.0F);
    g.submit(twice, filled, y.slice(0, 1));
  });
  for (int round = 1; round <= 3; ++round) {
    chip.copy_in<std::int32_t>(parts, std::vector<std::int32_t>(3));
    chip.run([&](Graph& g) {
      g.submit_graph(graph);
      g.submit(notify, signal, 1);
    });
    EXPECT_THAT(values_of<float>(chip, y), ElementsAre(10, round));
  }
  std::vector<std::int32_t> seen(30);
  chip.copy_out<std::int32_t>(blocks, std::span(seen));
  EXPECT_EQ(seen[29], 30029);
}

TEST(SubmitGraph, WithNamedEdgesKeepsThem) {
  Chip chip;
  const Tensor y = chip.alloc<float>({4});
  CapturedGraph graph = chip.capture(
      [&](Graph& g) {
        TaskOptions after;
        for (int i = 0; i < 20; ++i) after.after = {g.submit(after, add_one, y)};
      },
      {.edges = Edges::named});
  chip.run([&](Graph& g) { g.submit_graph(graph); });
  EXPECT_THAT(values_of<float>(chip, y), Each(20.0F));
}

TEST(SubmitGraph, OfAnotherChipOrWithMemoryThatDoesNotFitIsRefused) {
  Chip chip;
  Chip other;
  const Tensor x = chip.alloc<float>({4});
  const Tensor y = chip.alloc<float>({4});
  const Tensor small = chip.alloc<float>({2});
  CapturedGraph graph = layer(chip, x, y);
  require_error(Code::invalid_argument, {"another one"}, [&] { other.run([&](Graph& g) { g.submit_graph(graph); }); });
  require_error(Code::invalid_argument, {"has no room"}, [&] {
    chip.run([&](Graph& g) { g.submit_graph(graph, {{x, small}}); });
  });
  require_error(Code::invalid_argument, {"does not use"}, [&] {
    chip.run([&](Graph& g) { g.submit_graph(graph, {{small, x}}); });
  });
}

}  // namespace
}  // namespace baton::test
