#include "comm/wait_graph.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::comm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using State = RankOfGraph::State;

WaitDescription signal_among(std::vector<std::uint32_t> members) {
  WaitDescription wait{wire::Operation::waiting, "flags", 0, WaitCmp::ge, 1, 1};
  wait.members = std::move(members);
  wait.knows_members = true;
  return wait;
}

WaitDescription barrier_among(std::vector<std::uint32_t> members, std::uint64_t epoch = 1) {
  WaitDescription wait{wire::Operation::in_barrier, "all", epoch, WaitCmp::ge, 0, 1};
  wait.members = std::move(members);
  wait.knows_members = true;
  return wait;
}

WaitDescription step_of(std::uint64_t member, std::vector<std::uint32_t> members) {
  WaitDescription wait{wire::Operation::in_collective, "all", member, WaitCmp::ge, 0, 1};
  wait.members = std::move(members);
  wait.knows_members = true;
  return wait;
}

RankOfGraph waiting(WaitDescription wait) { return {State::waits, {std::move(wait)}}; }
RankOfGraph acting() { return {State::acts, {}}; }
RankOfGraph gone() { return {State::gone, {}}; }

TEST(WaitGraph, ARankThatHasNotComeToABarrierIsMissing) {
  const std::vector<RankOfGraph> job = {waiting(barrier_among({0, 1, 2, 3})), waiting(barrier_among({0, 1, 2, 3})),
                                        waiting(barrier_among({0, 1, 2, 3}, 2)), acting()};
  const Awaited awaited = WaitGraph(job).awaited_by(0, job[0].waits[0]);
  EXPECT_EQ(awaited.who, Awaited::Who::every);
  EXPECT_THAT(awaited.ranks, ElementsAre(2U, 3U));
}

TEST(WaitGraph, AnyOtherMemberMayNotify) {
  const std::vector<RankOfGraph> job(5, acting());
  EXPECT_THAT(WaitGraph(job).awaited_by(1, signal_among({1, 3, 4})).ranks, ElementsAre(3U, 4U));
  WaitDescription unknown = signal_among({});
  unknown.knows_members = false;
  EXPECT_THAT(WaitGraph(job).awaited_by(1, unknown).ranks, ElementsAre(0U, 2U, 3U, 4U));
  EXPECT_THAT(WaitGraph(job).awaited_by(1, signal_among({1, 77})).ranks, IsEmpty());  // numbers may come from anybody
}

TEST(WaitGraph, AStepOfACollectiveIsForOneMember) {
  const std::vector<RankOfGraph> job(4, acting());
  EXPECT_THAT(WaitGraph(job).awaited_by(0, step_of(1, {0, 3})).ranks, ElementsAre(3U));
  EXPECT_THAT(WaitGraph(job).awaited_by(0, step_of(9, {0, 3})).ranks, IsEmpty());
}

TEST(WaitGraph, ARingOfWaitsIsACycle) {
  std::vector<RankOfGraph> job;
  for (std::uint32_t rank = 0; rank < 4; ++rank) job.push_back(waiting(step_of((rank + 1) % 4, {0, 1, 2, 3})));
  const auto stuck = WaitGraph(job).stuck();
  EXPECT_THAT(stuck, ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_THAT(WaitGraph(job).cycle_among(stuck), ElementsAre(0U, 1U, 2U, 3U));
  job[2] = acting();
  EXPECT_THAT(WaitGraph(job).stuck(), IsEmpty());
  job[2] = gone();
  EXPECT_THAT(WaitGraph(job).stuck(), ElementsAre(0U, 1U, 3U));
  EXPECT_THAT(WaitGraph(job).cycle_among(WaitGraph(job).stuck()), IsEmpty());
}

TEST(WaitGraph, OneWhoWaitsForASignalAndOthersAtABarrierAreStuck) {
  const std::vector<RankOfGraph> job = {waiting(barrier_among({0, 1, 2})), waiting(barrier_among({0, 1, 2})),
                                        waiting(signal_among({0, 1, 2}))};
  EXPECT_THAT(WaitGraph(job).stuck(), ElementsAre(0U, 1U, 2U));
}

TEST(WaitGraph, OneThatMayStillNotifyIsHope) {
  const std::vector<RankOfGraph> job = {waiting(signal_among({0, 1, 2})), waiting(signal_among({0, 1})), acting()};
  EXPECT_THAT(WaitGraph(job).stuck(), IsEmpty());
}

/// The largest set of waiting ranks of which none can be helped from outside of it, among all sets there are.
std::vector<std::uint32_t> stuck_by_trying_all(const std::vector<RankOfGraph>& job) {
  const WaitGraph graph(job);
  const auto count = static_cast<std::uint32_t>(job.size());
  std::uint32_t all = 0;
  for (std::uint32_t set = 0; set < 1U << count; ++set) {
    const auto holds = [&](std::uint32_t rank) { return (set >> rank & 1U) != 0; };
    const auto helpless = [&](std::uint32_t rank) { return holds(rank) || job[rank].state == State::gone; };
    bool consistent = true;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      if (!holds(rank)) continue;
      consistent = consistent && job[rank].state == State::waits;
      for (const WaitDescription& wait : job[rank].waits) {
        const Awaited awaited = graph.awaited_by(rank, wait);
        consistent = consistent && (awaited.who == Awaited::Who::any ? std::ranges::all_of(awaited.ranks, helpless)
                                                                     : std::ranges::any_of(awaited.ranks, helpless));
      }
    }
    if (consistent) all |= set;
  }
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if ((all >> rank & 1U) != 0) ranks.push_back(rank);
  }
  return ranks;
}

TEST(WaitGraph, FindsThoseThatTryingAllSetsFinds) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  int stuck_jobs = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t count = 2 + below(4);
    std::vector<RankOfGraph> job;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      std::vector<std::uint32_t> members;
      for (std::uint32_t other = 0; other < count; ++other) {
        if (other == rank || below(2) == 0) members.push_back(other);
      }
      switch (below(8)) {
        case 0: job.push_back(acting()); break;
        case 1: job.push_back(gone()); break;
        case 2:
        case 3: job.push_back(waiting(barrier_among(members, below(2)))); break;
        case 4: job.push_back(waiting(step_of(below(static_cast<std::uint32_t>(members.size())), members))); break;
        case 5: job.push_back({State::waits, {signal_among(members), barrier_among(members)}}); break;
        default: job.push_back(waiting(signal_among(members))); break;
      }
    }
    const WaitGraph graph(job);
    const auto stuck = graph.stuck();
    ASSERT_EQ(stuck, stuck_by_trying_all(job)) << "round " << round;
    stuck_jobs += stuck.empty() ? 0 : 1;
    // A cycle leads through stuck ranks, each of which waits for the next.
    const auto cycle = WaitGraph(job).cycle_among(stuck);
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      ASSERT_TRUE(std::ranges::binary_search(stuck, cycle[i]));
      const Awaited awaited = graph.awaited_by(cycle[i], job[cycle[i]].waits.front());
      ASSERT_TRUE(std::ranges::binary_search(awaited.ranks, cycle[(i + 1) % cycle.size()])) << "round " << round;
    }
  }
  EXPECT_GT(stuck_jobs, 1000);
}

}  // namespace
}  // namespace baton::comm
