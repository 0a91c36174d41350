// What can be submitted, and on which cores it runs.
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Chip, RunsATypedKernelOnItsMemory) {
  Chip chip;
  const Tensor x = chip.alloc<float>({64}, "x");
  const Tensor y = chip.alloc<float>({64}, "y");
  std::vector<float> in(64);
  std::iota(in.begin(), in.end(), 1.0F);
  chip.copy_in<float>(x, in);
  chip.run([&](Graph& g) {
    g.submit(twice, x, y);
    g.submit(add_one, y);
  });
  std::vector<float> out(64);
  chip.copy_out<float>(y, out);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 2 * in[i] + 1);
}

TEST(Chip, RunsManyTimesAndWithMoreTasksThanFitTheWindow) {
  Chip chip({.task_window = 8});
  const Tensor y = chip.alloc<float>({4});
  for (int round = 0; round < 3; ++round) {
    chip.run([&](Graph& g) {
      for (int i = 0; i < 1000; ++i) g.submit(add_one, y);
    });
  }
  std::vector<float> out(4);
  chip.copy_out<float>(y, out);
  EXPECT_THAT(out, Each(3000.0F));
}

TEST(Chip, UsesMemoryOfOthers) {
  std::vector<float> mine(16, 5.0F);
  Chip chip;
  const Tensor y = chip.add(std::span(mine), "mine");
  chip.run([&](Graph& g) { g.submit(add_one, y); });
  EXPECT_THAT(mine, Each(6.0F));
  chip.remove(y);
  EXPECT_THROW(chip.remove(y), Error);
}

TEST(Chip, RefusesCopiesThatDoNotFit) {
  Chip chip;
  const Tensor x = chip.alloc<float>({2, 4});
  const std::vector<float> short_one(7);
  require_error(Code::invalid_argument, {"7 elements of float32 do not fit"},
                [&] { chip.copy_in<float>(x, short_one); });
  std::vector<float> column(2);
  require_error(Code::invalid_argument, {"has gaps"}, [&] { chip.copy_out<float>(x.select(1, 0), std::span(column)); });
}

TEST(Submit, WrongArgumentsAreNamedAtSubmission) {
  Chip chip;
  const Tensor x = chip.alloc<float>({4});
  const Tensor wrong = chip.alloc<std::int32_t>({4});
  require_error(Code::invalid_argument, {"twice", "'y'", "Out<float>", "int32", "submitted at", "task_test.cpp"},
                [&] { chip.run([&](Graph& g) { g.submit(twice, x, wrong); }); });
  // The chip can be used again.
  chip.run([&](Graph& g) { g.submit(add_one, x); });
}

TEST(Submit, BlocksHaveNumbers) {
  Chip chip({.clusters = 2});
  const Tensor y = chip.alloc<std::int32_t>({37});
  chip.run([&](Graph& g) { g.submit(kNumberBlocks, {{Access::out, y}}, {.blocks = 37}); });
  std::vector<std::int32_t> out(37);
  chip.copy_out<std::int32_t>(y, out);
  for (int i = 0; i < 37; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], 37000 + i);
}

TEST(Submit, BlocksThatStartTogetherMayWaitForEachOther) {
  Chip chip({.clusters = 4});
  const Tensor first = chip.alloc<std::int32_t>({1});
  const Tensor second = chip.alloc<std::int32_t>({1});
  // Each needs all vector cores: they must not take half of them each.
  for (int round = 0; round < 20; ++round) {
    chip.run([&](Graph& g) {
      g.set<std::int32_t>(first, {0}, 0);
      g.set<std::int32_t>(second, {0}, 0);
      g.submit(kMeet, {{Access::inout, first}}, {.blocks = 8, .start_together = true});
      g.submit(kMeet, {{Access::inout, second}}, {.blocks = 8, .start_together = true});
    });
  }
  require_error(Code::invalid_argument, {"9 blocks cannot start together on 8 cores"}, [&] {
    chip.run([&](Graph& g) { g.submit(kMeet, {{Access::inout, first}}, {.blocks = 9, .start_together = true}); });
  });
}

TEST(Submit, TasksOfAClusterShareIt) {
  Chip chip({.clusters = 3});
  const Tensor y = chip.alloc<std::int32_t>({2});
  const ClusterTask kernels{.cube = &cube_part, .vector = {&vector_part, &vector_part}};
  for (int round = 0; round < 50; ++round) {
    chip.run([&](Graph& g) {
      g.set<std::int32_t>(y, {0}, 0);
      g.set<std::int32_t>(y, {1}, 0);
      g.submit(kernels, {{Access::inout, y}});
    });
    std::vector<std::int32_t> out(2);
    chip.copy_out<std::int32_t>(y, out);
    ASSERT_THAT(out, ElementsAre(1, 2));
  }
  require_error(Code::invalid_argument, {"needs a kernel"}, [&] {
    chip.run([&](Graph& g) { g.submit(ClusterTask{}, {{Access::inout, y}}); });
  });
}

TEST(Submit, UrgentTasksGoFirstAmongThoseThatAreReady) {
  Chip chip({.clusters = 1, .threads = 1});
  const Tensor gate = chip.alloc<std::int32_t>({1});
  const Tensor list = chip.alloc<std::int64_t>({8});
  chip.run([&](Graph& g) {
    const Tensor token = g.submit_notification_wait(reinterpret_cast<const std::int32_t*>(gate.address()), 1);
    // No edges among them: all become ready at once, when the gate opens, and one thread runs them one by one.
    for (std::int64_t i = 0; i < 4; ++i) {
      g.submit(append, {{Access::no_dependency, list}, i}, {.priority = static_cast<int>(i) - 1, .tokens = {token}});
    }
    g.submit(notify, gate, 1);
  });
  std::vector<std::int64_t> out(8);
  chip.copy_out<std::int64_t>(list, out);
  EXPECT_THAT(out, ElementsAre(4, 3, 2, 1, 0, 0, 0, 0));
}

TEST(Submit, ElementsAreReadAndWrittenInOrder) {
  Chip chip;
  const Tensor y = chip.alloc<float>({8});
  chip.run([&](Graph& g) {
    g.submit(add_one, y);
    EXPECT_EQ(g.get<float>(y, {3}), 1.0F);
    g.set<float>(y, {3}, 10.0F);
    g.submit(add_one, y);
    EXPECT_EQ(g.get<float>(y, {3}), 11.0F);
    EXPECT_EQ(g.get<float>(y, {4}), 2.0F);
    EXPECT_THROW(static_cast<void>(g.get<std::int32_t>(y, {3})), Error);
    EXPECT_THROW(static_cast<void>(g.get<float>(y, {8})), Error);
    EXPECT_THROW(static_cast<void>(g.get<float>(y, {1, 1})), Error);
  });
}

TEST(Submit, SaysHowManyCoresThereAre) {
  Chip chip({.platform = "a5sim"});
  EXPECT_EQ(chip.clusters(), 36);
  chip.run([](Graph& g) {
    EXPECT_EQ(g.clusters(), 36);
    EXPECT_EQ(g.vector_cores(), 72);
  });
}

}  // namespace
}  // namespace baton::test
