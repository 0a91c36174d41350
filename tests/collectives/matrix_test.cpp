// Every operation with every algorithm, element, operation on elements, size, place and number of ranks.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include <baton/inproc.hpp>

#include "bodies.hpp"
#include "cases.hpp"
#include "collectives/selection.hpp"
#include "matrix.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

/// Runs the cases one after the other, each a few times, on `ranks` ranks, and expects no wrong element.
void expect_right(int ranks, const std::vector<Case>& cases) {
  std::size_t bytes = 64;
  for (const Case& one : cases) bytes = std::max(bytes, bytes_of(one, ranks));
  std::mutex mutex;
  std::vector<std::string> failures;
  const auto body = [&](Domain me) {
    const Buffers buffers(me, bytes);
    for (const Case& one : cases) {
      for (int round = 0; round < (one.count > 5000 ? 1 : 3); ++round) {
        const std::size_t wrong = wrong_elements(me, buffers, one, round);
        if (wrong == 0) continue;
        const std::lock_guard lock(mutex);
        failures.push_back(std::to_string(wrong) + " wrong on rank " + std::to_string(me.rank()) + " of " +
                           std::to_string(ranks) + ", round " + std::to_string(round) + ": " + describe(one));
      }
    }
  };
  run_ranks(ranks, body);
  EXPECT_TRUE(failures.empty()) << failures.size() << " failures, the first: " << failures.front();
}

std::vector<Algorithm> algorithms_of(Operation operation) {
  std::vector<Algorithm> algorithms = {Algorithm::automatic};
  for (const auto& info : collectives::all_algorithms()) {
    if (info.operation == operation) algorithms.push_back(info.algorithm);
  }
  return algorithms;
}

class EveryOperation : public testing::TestWithParam<Operation> {};

TEST_P(EveryOperation, IsRightForEveryElementAndOperationOnElements) {
  for (const int ranks : corners<int>({4}, {1, 2, 3, 4, 7})) expect_right(ranks, cases_of_elements(GetParam(), ranks));
}

TEST_P(EveryOperation, IsRightForEveryAlgorithmAndPlaceAroundEveryBorder) {
  for (const int ranks : corners<int>({3}, {2, 3, 5, 8})) {
    std::vector<Case> cases;
    for (const Algorithm algorithm : algorithms_of(GetParam())) {
      for (const Case& one : cases_around_borders(GetParam(), algorithm, ranks)) cases.push_back(one);
    }
    expect_right(ranks, cases);
  }
}

TEST_P(EveryOperation, IsRightForEveryNumberOfRanks) {
  for (const int ranks : corners<int>({1, 2, 4, 7, 16, 70}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33, 64, 70, 130})) {
    if (ranks > 20 && !large_borders()) continue;
    std::vector<Case> cases;
    for (const Algorithm algorithm : algorithms_of(GetParam())) {
      // Rings of very many ranks take long.
      if (ranks > 20 && algorithm != Algorithm::automatic && !whole_matrix()) continue;
      for (const std::size_t count : corners<std::size_t>({1, 300}, {1, 70, 1100, 9000})) {
        for (const Memory memory : {Memory::windows, Memory::own}) {
          Case one{.operation = GetParam(), .count = count, .root = ranks / 2, .memory = memory};
          one.algorithm = algorithm;
          cases.push_back(one);
        }
      }
    }
    expect_right(ranks, cases);
  }
}

INSTANTIATE_TEST_SUITE_P(, EveryOperation,
                         testing::Values(Operation::broadcast, Operation::reduce, Operation::allreduce,
                                         Operation::reduce_scatter, Operation::allgather, Operation::gather,
                                         Operation::scatter, Operation::all_to_all, Operation::all_to_all_v),
                         [](const auto& param) { return std::string(name_of(param.param)); });

TEST(Barrier, HoldsEverybodyUntilAllHaveCome) {
  for (const Algorithm algorithm : {Algorithm::exchange, Algorithm::meeting}) {
    std::atomic<int> arrived = 0;
    run_ranks(5, [&](Domain me) {
      for (int round = 1; round <= scaled(200); ++round) {
        ++arrived;
        barrier(me, {.algorithm = algorithm});
        EXPECT_GE(arrived.load(), round * me.size());
        barrier(me, {.algorithm = algorithm});
      }
      arrived = 0;
      barrier(me);
    });
  }
}

TEST(Messages, ArriveInOrderAndWhole) { run_ranks(4, pass_messages_round); }

TEST(AllToAllV, MovesBlocksOfAllSizes) {
  for (const Memory memory : {Memory::own, Memory::output_in_window}) {
    run_ranks(5, [&](Domain me) { exchange_blocks_of_all_sizes(std::move(me), memory); });
  }
}

}  // namespace
}  // namespace baton::test
