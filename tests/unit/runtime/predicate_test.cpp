// Tasks that run only if an element says so.
#include <functional>
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

TaskOptions only_if(const Tensor& element, WaitCmp comparison, std::int64_t value) {
  TaskOptions options;
  options.only_if = Predicate{element, comparison, value};
  return options;
}

/// As a stream, and captured.
void run_both(Chip& chip, const std::function<void(Graph&)>& orchestration) {
  chip.run(orchestration);
  CapturedGraph graph = chip.capture(orchestration);
  chip.run(graph);
}

TEST(Predicate, ComparesWithItsSign) {
  Chip chip;
  const Tensor flag = chip.alloc<std::int8_t>({1});
  const Tensor y = chip.alloc<float>({6});
  chip.copy_in<std::int8_t>(flag, std::vector<std::int8_t>{-2});
  run_both(chip, [&](Graph& g) {
    std::int64_t at = 0;
    for (const WaitCmp each : {WaitCmp::eq, WaitCmp::ne, WaitCmp::gt, WaitCmp::ge, WaitCmp::lt, WaitCmp::le}) {
      g.submit(only_if(flag, each, -1), add_one, y.slice(at, at + 1));
      ++at;
    }
  });
  EXPECT_THAT(values_of<float>(chip, y), ElementsAre(0, 2, 0, 0, 2, 2));
}

TEST(Predicate, IsReadWhenTheTaskIsReadyAfterItsWriter) {
  Chip chip;
  const Tensor flag = chip.alloc<std::int32_t>({1});
  const Tensor y = chip.alloc<float>({1});
  for (int round = 0; round < 50; ++round) {
    chip.copy_in<std::int32_t>(flag, std::vector<std::int32_t>{0});
    chip.copy_in<float>(y, std::vector<float>{0});
    chip.run([&](Graph& g) {
      g.submit(only_if(flag, WaitCmp::eq, 0), add_one, y);
      g.submit(notify, flag, 1);
      g.submit(only_if(flag, WaitCmp::eq, 1), add_one, y);
      g.submit(only_if(flag, WaitCmp::eq, 0), add_one, y);
    });
    EXPECT_THAT(values_of<float>(chip, y), Each(2.0F));
  }
}

TEST(Predicate, OfBlocksAndClustersDecidesForAllOfThem) {
  Chip chip({.clusters = 2});
  const Tensor flag = chip.alloc<std::int64_t>({2});
  chip.copy_in<std::int64_t>(flag, std::vector<std::int64_t>{0, 1});
  const Tensor y = chip.alloc<std::int32_t>({3});
  const std::vector<Tensor> numbers = {chip.alloc<std::int32_t>({40}), chip.alloc<std::int32_t>({40})};
  run_both(chip, [&](Graph& g) {
    TaskOptions no = only_if(flag.slice(0, 1), WaitCmp::ne, 0);
    g.submit(ClusterTask{.cube = &cube_part, .vector = {&vector_part, &vector_part}}, {{Access::inout, y}}, no);
    for (const std::size_t i : {0U, 1U}) {
      const auto at = static_cast<std::int64_t>(i);
      TaskOptions options = only_if(flag.slice(at, at + 1), WaitCmp::ne, 0);
      options.blocks = 40;
      g.submit(kNumberBlocks, {{Access::inout, numbers[i]}}, options);
      options.start_together = true;
      options.blocks = 4;
      g.submit(kNumberBlocks, {{Access::inout, numbers[i]}}, options);
    }
  });
  std::vector<std::int32_t> seen(40);
  chip.copy_out<std::int32_t>(numbers[0], std::span(seen));
  EXPECT_THAT(seen, Each(0));
  chip.copy_out<std::int32_t>(numbers[1], std::span(seen));
  EXPECT_EQ(seen[0], 4000);
  EXPECT_EQ(seen[39], 40039);
  std::vector<std::int32_t> parts(3);
  chip.copy_out<std::int32_t>(y, std::span(parts));
  EXPECT_THAT(parts, Each(0));
}

TEST(Predicate, FollowsTheMemoryThatIsBound) {
  Chip chip;
  const Tensor flag = chip.alloc<std::int32_t>({1});
  const Tensor other = chip.alloc<std::int32_t>({1});
  const Tensor y = chip.alloc<float>({1});
  chip.copy_in<std::int32_t>(other, std::vector<std::int32_t>{1});
  CapturedGraph graph = chip.capture([&](Graph& g) { g.submit(only_if(flag, WaitCmp::ne, 0), add_one, y); });
  chip.run(graph);
  EXPECT_THAT(values_of<float>(chip, y), Each(0.0F));
  chip.run(graph, {{flag, other}});
  EXPECT_THAT(values_of<float>(chip, y), Each(1.0F));
}

TEST(Predicate, ATaskThatDoesNotRunIsInTheProfile) {
  Chip chip({.profile = ProfileMode::records});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  const Tensor y = chip.alloc<float>({1});
  chip.run([&](Graph& g) { g.submit(only_if(flag, WaitCmp::ne, 0), add_one, y); });
  const TaskProfile profile = chip.task_profile();
  ASSERT_EQ(profile.kernels.size(), 1U);
  EXPECT_EQ(profile.kernels[0].not_run, 1U);
}

TEST(Predicate, NeedsOneIntegerOfTheChip) {
  Chip chip;
  const Tensor y = chip.alloc<float>({1});
  const Tensor flags = chip.alloc<std::int32_t>({2});
  static std::int32_t elsewhere[1] = {};
  const auto refused = [&](Code code, const Tensor& element) {
    require_error(code, {"add_one"},
                  [&] { chip.run([&](Graph& g) { g.submit(only_if(element, WaitCmp::ne, 0), add_one, y); }); });
  };
  refused(Code::invalid_argument, y);
  refused(Code::invalid_argument, flags);
  refused(Code::invalid_argument, Tensor::token(3));
  refused(Code::released, Tensor::over(std::span<std::int32_t>(elsewhere)));
}

}  // namespace
}  // namespace baton::test
