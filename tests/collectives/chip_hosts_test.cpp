// Collectives of chips whose ranks are on two, three and four hosts: in kernels, in graphs, and when ranks disagree.
#include <gtest/gtest.h>

#include <random>

#include <baton/graph_collectives.hpp>

#include "calling_rank.hpp"
#include "chip_cases.hpp"
#include "disagreements.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario_run.hpp"

namespace baton::test {
namespace {

const ChipOptions kSmallChip{.clusters = 1, .threads = 1};

void require_right(CallingRank& rank, const Case& one, int round) {
  const std::size_t wrong = rank.call(one, round);
  if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
}

}  // namespace

SCENARIO(KernelsOnHosts, {.sizes = {2, 3, 5, 8}, .hostings = {Hosting::hosts}}) {
  constexpr std::size_t kMost = 1500;
  std::mt19937_64 random(static_cast<std::uint64_t>(me.size()));
  const auto ranks = static_cast<std::size_t>(me.size());
  CallingRank rank(me, (kMost + 8) * 8 * ranks, ranks * 1000, kSmallChip);
  for (int call = 0; call < scaled(30); ++call) require_right(rank, draw_chip_case(random, me.size(), kMost), call);
}

SCENARIO(EachAlgorithmOnHosts, {.sizes = {4}, .hostings = {Hosting::hosts}}) {
  CallingRank rank(me, std::size_t{5000} * 8 * 4, 3000, kSmallChip);
  int round = 0;
  for (const auto& [operation, algorithm] : chip_algorithms()) {
    Case one{.operation = operation, .memory = Memory::windows, .algorithm = algorithm};
    one.root = ++round % me.size();
    one.count = round % 3 == 0 ? 4097 : 130;
    require_right(rank, one, round);
  }
}

SCENARIO(GraphsOnHosts, {.sizes = {2, 5}, .hostings = {Hosting::hosts}}) {
  constexpr std::size_t kCount = 3000;
  Chip chip(me, kSmallChip);
  const auto window = me.window<float>("x", kCount);
  const auto sums = chip.alloc<float>({static_cast<std::int64_t>(kCount)}, "sums");
  const CollectiveRoom room(me, {.bytes = 4096});
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) window[i] = static_cast<float>(me.rank() + round) + static_cast<float>(i);
    me.barrier();
    chip.run([&](Graph& graph) {
      const Tensor x = Tensor::over(std::span(window.data(), kCount));
      allreduce(graph, room, GraphData(x), GraphData(sums), ReduceOp::sum);
      broadcast(graph, room, GraphData(x), me.size() - 1);
    });
    std::vector<float> got(kCount);
    chip.copy_out<float>(sums, got);
    const float all = static_cast<float>(me.size() * (me.size() - 1) / 2 + me.size() * round);
    for (std::size_t i = 0; i < kCount; ++i) {
      REQUIRE_EQUAL(got[i], all + static_cast<float>(me.size()) * static_cast<float>(i));
      REQUIRE_EQUAL(window[i], static_cast<float>(me.size() - 1 + round) + static_cast<float>(i));
    }
    me.barrier();
  }
}

SCENARIO(DisagreementsOnHosts, {.sizes = {2, 5}, .hostings = {Hosting::hosts}}) {
  for (const Level level : {Level::kernel, Level::graph}) {
    for (const Disagreement& one : disagreements(me.size(), level)) disagree(me, level, one);
  }
}

namespace {

TEST(ChipsOnHosts, CallCollectivesInKernels) {
  for (const char* scenario : {"KernelsOnHosts", "EachAlgorithmOnHosts"}) {
    const Scenario& one = scenario_named(scenario);
    for (const int size : one.wishes.sizes) EXPECT_TRUE(run_scenario(one, Hosting::hosts, size)) << scenario;
  }
}

TEST(ChipsOnHosts, CallCollectivesInGraphs) {
  for (const int size : {2, 5}) EXPECT_TRUE(run_scenario(scenario_named("GraphsOnHosts"), Hosting::hosts, size));
}

TEST(ChipsOnHosts, ThatDisagreeLearnOfItWithBothSides) {
  for (const int size : {2, 5}) EXPECT_TRUE(run_scenario(scenario_named("DisagreementsOnHosts"), Hosting::hosts, size));
}

}  // namespace
}  // namespace baton::test
