// Orchestrations of the field's API: on both platforms, in both ways to build a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <tuple>

#include <baton/domain.hpp>
#include <baton/inproc.hpp>
#include <baton/kernel_handle.hpp>

#include "program_fixture.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class Program : public testing::TestWithParam<std::tuple<const char*, GraphBuilding>> {
 protected:
  Program() : on(std::get<0>(GetParam())) {}
  [[nodiscard]] static ChipProgramParts parts(const std::string& file, const std::string& entry) {
    return parts_of(file, entry, std::get<1>(GetParam()));
  }

  ProgramChip on;
};

INSTANTIATE_TEST_SUITE_P(Everywhere, Program,
                         testing::Combine(testing::Values("a2a3sim", "a5sim"),
                                          testing::Values(GraphBuilding::stream, GraphBuilding::captured)),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param)) +
                                  (std::get<1>(each.param) == GraphBuilding::stream ? "_stream" : "_captured");
                         });

TEST_P(Program, TasksHandTheirOutputsOn) {
  on.add({1, 2, 3, 4});
  on.add({10, 20, 30, 40});
  on.add({0, 0, 0, 0});
  for (int round = 0; round < 3; ++round) on.run(parts("tasks", "aicpu_orchestration_entry"), {scalar_slot(3.0F)});
  EXPECT_THAT(on.values(2), ElementsAre(44, 88, 132, 176));
}

TEST_P(Program, ViewsAreOrderedByTheirBytes) {
  on.add({0, 1, 2, 3});
  on.run(parts("tasks", "halves"));
  EXPECT_THAT(on.values(0), ElementsAre(11, 12, 23, 24));
}

TEST_P(Program, AnEmptyViewHasItsShapeAndNothingElse) {
  on.add({0, 0, 0, 0});
  on.add({0, 0});
  on.run(parts("tasks", "empty_views"));
  EXPECT_THAT(on.values(1), ElementsAre(1001, 3));
}

TEST_P(Program, ScalarsAreTheirBits) {
  const Tensor seen = on.chip.alloc<std::int64_t>({4});
  on.tensors = {seen};
  on.run(parts("tasks", "scalars"), {7, 8, -9});
  std::vector<std::int64_t> values(4);
  on.chip.copy_out<std::int64_t>(seen, std::span(values));
  EXPECT_THAT(values, ElementsAre(0xffffffff, 2, 8, -9));
}

TEST_P(Program, OutputsBeginWithAValue) {
  on.add({0, 0, 0});
  on.run(parts("tasks", "outputs"));
  EXPECT_THAT(on.values(0), Each(5));
}

TEST_P(Program, MemoryIsKnownByItsAddress) {
  on.add({1, 1, 1, 1});
  on.run(parts("tasks", "external"));
  EXPECT_THAT(on.values(0), ElementsAre(1, 1, 6, 6));
}

TEST_P(Program, HasWordsBesideTasks) {
  on.add({1, 1, 1, 1});
  testing::internal::CaptureStderr();
  on.run(parts("tasks", "words_beside_tasks"));
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_THAT(on.values(0), ElementsAre(6, 6, 1, 1));
  EXPECT_THAT(printed, testing::AllOf(HasSubstr("tasks.cpp"), HasSubstr("warn 4"), HasSubstr("error 5")));
  EXPECT_THAT(printed, testing::Not(HasSubstr("info 2"))) << "the log is silent below warnings unless asked";
}

TEST_P(Program, MoreBlocksThanCoresRunInWaves) {
  on.add(std::vector<float>(100));
  on.run(parts("tasks", "many_blocks"));
  std::vector<float> expected(100);
  std::iota(expected.begin(), expected.end(), 1.0F);
  EXPECT_EQ(on.values(0), expected);
}

TEST_P(Program, BlocksThatStartTogetherMeet) {
  on.add_int32({0}, {1});
  on.run(parts("tasks", "blocks_together"));
  EXPECT_EQ(*reinterpret_cast<std::int32_t*>(on.tensors[0].address()), on.chip.vector_cores());
}

TEST_P(Program, AClusterRunsItsKernelsWithTheSameArguments) {
  on.add({0, 0, 0, 0, 0, 0});
  on.run(parts("tasks", "clusters"));
  EXPECT_THAT(on.values(0), ElementsAre(2, 10, 20, 1, 10, 10));
}

TEST_P(Program, KnowsHowManyCoresThereAre) {
  on.add({0, 0});
  on.run(parts("tasks", "counts_of_cores"));
  EXPECT_THAT(on.values(0), ElementsAre(3, 6));
}

TEST_P(Program, InAManualScopeOnlyExplicitEdgesCount) {
  on.add({0});
  on.add({0});
  on.run(parts("order", "manual"));
  // x = 2 * (x + 1), five times.
  EXPECT_THAT(on.values(0), ElementsAre(62));
}

TEST_P(Program, ATensorMayDependOnItsCreatorOnly) {
  on.add({0, 0});
  on.run(parts("order", "only_creator"));
  EXPECT_THAT(on.values(0), Each(6));
}

TEST_P(Program, APredicateDecidesWhenTheTaskIsReady) {
  on.add_int32({-2, -2, -1, -3, -3, -1}, {6});
  on.add({0, 0, 0, 0, 0, 0});
  on.run(parts("order", "predicates"));
  EXPECT_THAT(on.values(1), ElementsAre(1, 0, 1, 1, 0, 0));
}

TEST_P(Program, TasksBehindOneThatDoesNotRunGoOn) {
  on.add_int32({0}, {1});
  on.add(std::vector<float>(12));
  on.run(parts("order", "after_a_task_that_did_not_run"));
  EXPECT_THAT(on.values(1), Each(3));
}

TEST_P(Program, AGraphIsATask) {
  on.add({0, 1});
  on.add({0, 0});
  on.run(parts("order", "graphs"));
  EXPECT_THAT(on.values(0), ElementsAre(6, 7));
  EXPECT_THAT(on.values(1), ElementsAre(36, 42));
}

TEST_P(Program, ATokenComesWithTheNotification) {
  on.add_int32({0}, {1});
  on.add({0});
  on.run(parts("order", "notification"));
  EXPECT_THAT(on.values(1), ElementsAre(3));
}

TEST_P(Program, OlderKernelsGetTheirCompletionQueue) {
  on.add_int32({0}, {1});
  on.add({0});
  on.run(parts("order", "notification_in_queue"));
  EXPECT_THAT(on.values(1), ElementsAre(3));
}

TEST_P(Program, ReadsAndWritesElementsThatNoTaskWrites) {
  on.add_int32({0, 0, 0, 0, 0, 5}, {2, 3});
  on.add({1});
  on.run(parts("order", "elements_of_entry_tensors"));
  EXPECT_EQ(reinterpret_cast<std::int32_t*>(on.tensors[0].address())[2], 6);
  EXPECT_THAT(on.values(1), ElementsAre(6));
}

TEST(ProgramStream, ReadsAndWritesElementsThatTasksWrite) {
  ProgramChip on;
  on.add({1, 2, 3});
  on.run(parts_of("order", "elements"));
  EXPECT_THAT(on.values(0), ElementsAre(300, 40, 5));
}

// They share a thread, and take turns while one of them waits for an element.
TEST(ProgramFibers, EachSubmitsToItsOwnChip) {
  const ChipProgram program(parts_of("order", "elements"));
  constexpr int kRanks = 5;
  run_ranks(kRanks, [&](Domain me) {
    Chip chip(me, {.clusters = 1});
    const std::vector<Tensor> tensors = {chip.alloc<float>({3})};
    const auto first = static_cast<float>(me.rank());
    for (int round = 0; round < 20; ++round) {
      chip.copy_in<float>(tensors[0], std::vector<float>{first, 2, 3});
      program.run(chip, ChipArgs(tensors, {}));
      std::vector<float> values(3);
      chip.copy_out<float>(tensors[0], std::span(values));
      REQUIRE((values == std::vector<float>{100 * (first + 2), 40, 5}));
      me.barrier();
    }
  });
}

}  // namespace
}  // namespace baton::test
