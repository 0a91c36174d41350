// all_to_all_v in graphs: counts that tasks write.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <baton/chip.hpp>
#include <baton/graph_collectives.hpp>
#include <baton/inproc.hpp>

#include "cases.hpp"
#include "chip_cases.hpp"
#include "chip_kernels.hpp"
#include "expect_clean.hpp"
#include "seeded.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

/// Rounds of all_to_all_v with blocks of all sizes, all of them in one graph. The counts are written by a task.
void uneven_rounds(Domain me, std::size_t room_bytes, const ChipOptions& options) {
  constexpr int kRounds = 6;
  const int ranks = me.size();
  const CollectiveRoom room(me, {.bytes = room_bytes, .blocks = 2});
  Chip chip(me, options);
  struct Round {
    std::vector<std::int32_t> expected;
    Tensor x, y, counts, counts_of_task;
  };
  std::vector<Round> rounds;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::int32_t> x = uneven_input(me.rank(), ranks, round);
    x.push_back(0);
    Round& made = rounds.emplace_back();
    made.expected = uneven_output(me.rank(), ranks, round);
    const std::vector<std::int32_t> y(made.expected.size() + 1, -1);
    made.x = chip.alloc<std::int32_t>({static_cast<std::int64_t>(x.size())});
    made.y = chip.alloc<std::int32_t>({static_cast<std::int64_t>(y.size())});
    made.counts = chip.alloc<std::int32_t>({2 * ranks});
    made.counts_of_task = chip.alloc<std::int32_t>({2 * ranks});
    chip.copy_in<std::int32_t>(made.x, x);
    chip.copy_in<std::int32_t>(made.y, y);
    chip.copy_in<std::int32_t>(made.counts, uneven_counts(me.rank(), ranks, round));
  }
  chip.run([&](Graph& graph) {
    for (const Round& round : rounds) {
      graph.submit(copy_ints, round.counts, round.counts_of_task);
      all_to_all_v(graph, room, round.x, round.counts_of_task.slice(0, ranks), round.y,
                   round.counts_of_task.slice(ranks, 2 * ranks));
    }
  });
  for (const Round& round : rounds) {
    std::vector<std::int32_t> y(round.expected.size() + 1);
    chip.copy_out<std::int32_t>(round.y, y);
    REQUIRE(std::equal(round.expected.begin(), round.expected.end(), y.begin()) && y.back() == -1);
  }
  me.barrier();
}

TEST(GraphCollectives, OfUnevenBlocksAreRightForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(6)); ++seed) {
    expect_right_and_clean(static_cast<int>(1 + seed % 5), seed, [&](Domain me) {
      uneven_rounds(std::move(me), seed % 2 == 0 ? 256 : 8192, {.clusters = 1, .threads = 1, .seed = seed});
    });
  }
}

// Both sides say so; a third rank, which the counts do not concern, may have all that it needs.
TEST(GraphCollectives, SayWhoseCountsDoNotAgree) {
  run_ranks(3, [](Domain me) {
    const CollectiveRoom room(me);
    Chip chip(me, {.clusters = 1});
    const Tensor x = chip.alloc<std::int32_t>({30});
    const Tensor y = chip.alloc<std::int32_t>({30});
    const Tensor sent = chip.alloc<std::int32_t>({3});
    const Tensor received = chip.alloc<std::int32_t>({3});
    chip.copy_in<std::int32_t>(sent, std::vector<std::int32_t>{1, 2, 3});
    const std::int32_t mine = me.rank() + 1;
    chip.copy_in<std::int32_t>(received, std::vector<std::int32_t>{me.rank() == 2 ? 5 : mine, mine, mine});
    const auto call = [&] {
      chip.run([&](Graph& graph) {
        all_to_all_v(graph, room, x, sent, y, received);
        barrier(graph, room);
      });
    };
    try {
      call();
    } catch (const Error& error) {
      const std::string_view report = error.what();
      const bool own = report.find("rank 0 sends 3 elements to rank 2, which expects 5") != std::string_view::npos;
      const bool of_other = report.find("failed in this room") != std::string_view::npos;
      REQUIRE(me.rank() == 1 ? of_other : own || of_other);
      me.barrier();
      return;
    }
    throw CheckFailed("no error");
  });
}

}  // namespace
}  // namespace baton::test
