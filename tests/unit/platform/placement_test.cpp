// Blocks on cores, held against a machine that runs the lists of its cores in any order that waits allow.
#include "platform/cuda/placement.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace {

using baton::cuda::place;
using baton::cuda::Placement;
using baton::cuda::Unit;

using Edges = std::vector<std::vector<std::uint32_t>>;

std::size_t edge_count(const Placement& placement) {
  std::size_t count = 0;
  for (const auto& told : placement.told) count += told.size();
  return count;
}

/// Runs all lists, the next core by chance. Fails if a block begins before all of its predecessors have ended, or if
/// nobody can go on.
void run(const Placement& placement, const Edges& before, const std::vector<std::uint32_t>& blocks, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::size_t> next(placement.cores.size(), 0);
  std::vector<std::uint32_t> arrived(before.size(), 0);
  std::vector<std::uint32_t> ended(before.size(), 0);
  std::size_t left = 0;
  for (const auto& core : placement.cores) left += core.size();
  while (left > 0) {
    std::vector<std::size_t> able;
    for (std::size_t core = 0; core < next.size(); ++core) {
      if (next[core] == placement.cores[core].size()) continue;
      const Unit& unit = placement.cores[core][next[core]];
      if (arrived[placement.counter[unit.task]] >= placement.needed[unit.task]) able.push_back(core);
    }
    ASSERT_FALSE(able.empty()) << "all cores wait";
    const std::size_t core = able[generator() % able.size()];
    const Unit unit = placement.cores[core][next[core]++];
    for (const std::uint32_t earlier : before[unit.task]) {
      ASSERT_EQ(ended[earlier], blocks[earlier]) << "task " << unit.task << " does not wait for " << earlier;
    }
    ++ended[unit.task];
    for (const std::uint32_t counter : placement.told[unit.task]) ++arrived[counter];
    --left;
  }
}

TEST(Placement, KeepsTheOrderOfRandomGraphsUnderAnySchedule) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 generator(seed);
    const std::size_t cores = 1 + generator() % 12;
    Edges before(200);
    std::vector<std::uint32_t> blocks(before.size());
    for (std::size_t task = 0; task < before.size(); ++task) {
      blocks[task] = generator() % 5 == 0 ? static_cast<std::uint32_t>(1 + generator() % 20) : 1;
      for (std::size_t i = 0; task > 0 && i < generator() % 6; ++i) {
        before[task].push_back(static_cast<std::uint32_t>(generator() % task));
      }
      std::ranges::sort(before[task]);
      before[task].erase(std::unique(before[task].begin(), before[task].end()), before[task].end());
    }
    const Placement placement = place(before, blocks, cores);
    for (unsigned order = 0; order < 5; ++order) {
      run(placement, before, blocks, 1000 * seed + order);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Placement, WithPrioritiesEveryTaskStillWaitsForThoseBeforeIt) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 generator(seed);
    Edges before(150);
    std::vector<std::uint32_t> blocks(before.size());
    std::vector<std::int32_t> priorities(before.size());
    for (std::size_t task = 0; task < before.size(); ++task) {
      blocks[task] = generator() % 6 == 0 ? static_cast<std::uint32_t>(1 + generator() % 9) : 1;
      priorities[task] = static_cast<std::int32_t>(generator() % 7) - 3;
      if (task > 0) before[task].push_back(static_cast<std::uint32_t>(generator() % task));
    }
    const Placement placement = place(before, blocks, 1 + generator() % 9, priorities);
    for (unsigned order = 0; order < 5; ++order) {
      run(placement, before, blocks, 1000 * seed + order);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Placement, OfTasksThatMayBeginTheOneWithTheHighestPriorityGoesFirst) {
  // 1 waits for 0; the others for nobody. As on an Ascend chip.
  const Edges before = {{}, {0}, {}, {}, {}, {}};
  const std::vector<std::int32_t> priorities = {0, 5, 1, 7, 1, -1};
  const Placement placement = place(before, std::vector<std::uint32_t>(before.size(), 1), 1, priorities);
  std::vector<std::uint32_t> order;
  for (const Unit& unit : placement.cores[0]) order.push_back(unit.task);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 2, 4, 0, 1, 5}));
}

TEST(Placement, KeepsAChainOnOneCoreWithoutACounter) {
  Edges before(50);
  for (std::uint32_t i = 1; i < before.size(); ++i) before[i] = {i - 1};
  const Placement placement = place(before, std::vector<std::uint32_t>(before.size(), 1), 8);
  EXPECT_EQ(placement.cores[0].size(), before.size());
  EXPECT_EQ(edge_count(placement), 0U);
}

TEST(Placement, TellsThoseThatWaitForOneTaskAtOnce) {
  // A task, of whose two blocks 64 others wait for the end, and one that waits for all of them.
  constexpr std::uint32_t kWidth = 64;
  Edges before(kWidth + 2);
  for (std::uint32_t i = 1; i <= kWidth; ++i) {
    before[i] = {0};
    before[kWidth + 1].push_back(i);
  }
  std::vector<std::uint32_t> blocks(before.size(), 1);
  blocks[0] = 2;
  const Placement placement = place(before, blocks, 2 * kWidth);
  EXPECT_EQ(placement.told[0].size(), 1U);
  for (std::uint32_t i = 1; i <= kWidth; ++i) EXPECT_EQ(placement.needed[i], 2U);
  for (unsigned order = 0; order < 5; ++order) run(placement, before, blocks, order);
}

TEST(Placement, SpreadsWhatIsIndependent) {
  const Placement placement = place(Edges(800), std::vector<std::uint32_t>(800, 1), 8);
  for (const auto& core : placement.cores) EXPECT_EQ(core.size(), 100U);
}

TEST(Placement, PutsBlocksOfATaskOnCoresOfTheirOwn) {
  const Placement placement = place(Edges(3), std::vector<std::uint32_t>{1, 8, 8}, 8);
  for (const auto& core : placement.cores) {
    EXPECT_EQ(std::ranges::count(core, 1U, &Unit::task), 1);
    EXPECT_EQ(std::ranges::count(core, 2U, &Unit::task), 1);
  }
}

TEST(Placement, LeavesOutWhatOtherEdgesTell) {
  // Each step depends on its neighbours of the step before, and needlessly on all steps before that.
  constexpr std::uint32_t kWidth = 8;
  constexpr std::uint32_t kSteps = 10;
  Edges before(std::size_t{kWidth} * kSteps);
  Edges needed(before.size());
  for (std::uint32_t step = 1; step < kSteps; ++step) {
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      const std::uint32_t task = step * kWidth + i;
      for (std::uint32_t old = 0; old < step; ++old) {
        for (std::uint32_t k = i == 0 ? 0 : i - 1; k < std::min(i + 2, kWidth); ++k) {
          before[task].push_back(old * kWidth + k);
          if (old + 1 == step) needed[task].push_back(old * kWidth + k);
        }
      }
    }
  }
  const std::vector<std::uint32_t> blocks(before.size(), 1);
  EXPECT_EQ(edge_count(place(before, blocks, kWidth)), edge_count(place(needed, blocks, kWidth)));
}

}  // namespace
