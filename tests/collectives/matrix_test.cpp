// Every operation with every algorithm, element, operation on elements, size, place and number of ranks.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include <baton/inproc.hpp>

#include "cases.hpp"
#include "collectives/scratch.hpp"
#include "collectives/selection.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr Element kElements[] = {Element::float64, Element::float32, Element::float16, Element::bfloat16,
                                 Element::int8,    Element::int16,   Element::int32,   Element::int64,
                                 Element::uint8,   Element::uint16,  Element::uint32,  Element::uint64};
constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::prod,    ReduceOp::min,    ReduceOp::max,
                             ReduceOp::avg, ReduceOp::bit_and, ReduceOp::bit_or, ReduceOp::bit_xor};
constexpr Memory kMemories[] = {Memory::windows, Memory::own, Memory::input_in_window, Memory::output_in_window};

/// The whole matrix takes minutes; without TEST_SCALE above 1 its corners must do.
bool whole_matrix() { return scaled(1000) > 1000; }
/// Megabytes, and very many ranks, take a minute under the thread sanitizer, which sees the same code with less.
bool large_borders() {
#if defined(BATON_SANITIZE_THREAD)
  return whole_matrix();
#else
  return true;
#endif
}

template <class T>
std::vector<T> corners(std::vector<T> few, std::vector<T> all) {
  return whole_matrix() ? all : few;
}

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

void add_places(std::vector<Case>& cases, Case one) {
  for (const Memory memory : kMemories) {
    one.memory = memory;
    one.placing = Placing::out_of_place;
    if (one.operation == Operation::broadcast &&
        (memory == Memory::input_in_window || memory == Memory::output_in_window))
      continue;
    cases.push_back(one);
    if (may_be_in_place(one.operation) && (memory == Memory::windows || memory == Memory::own)) {
      one.placing = Placing::in_place;
      cases.push_back(one);
    }
  }
}

std::vector<Algorithm> algorithms_of(Operation operation) {
  std::vector<Algorithm> algorithms = {Algorithm::automatic};
  for (const auto& info : collectives::all_algorithms()) {
    if (info.operation == operation) algorithms.push_back(info.algorithm);
  }
  return algorithms;
}

/// Counts around the sizes at which something changes, in elements of a block of `operation`.
std::vector<std::size_t> counts_around(Operation operation, std::size_t element_bytes, int ranks) {
  const bool blocks = operation == Operation::reduce_scatter || operation == Operation::scatter ||
                      operation == Operation::all_to_all || operation == Operation::all_to_all_v;
  const std::size_t share = blocks ? static_cast<std::size_t>(ranks) : 1;
  std::vector<std::size_t> counts = {0, 1, 2, 3, static_cast<std::size_t>(ranks)};
  std::vector<std::size_t> borders = {collectives::kInlineBytes, 8192, collectives::kSlotBytes};
  if (large_borders()) {
    const collectives::StagingRing ring = collectives::ring_of(ranks);
    borders.push_back(ring.pieces * ring.piece_bytes);
    borders.push_back(collectives::Layout(ranks).staging_bytes);
  }
  for (const std::size_t border : borders) {
    const std::size_t count = border / element_bytes / share;
    if (count == 0) continue;
    for (const std::size_t near : corners<std::size_t>({count + 1}, {count - 1, count, count + 1, count + 1001}))
      counts.push_back(near);
  }
  return counts;
}

class EveryOperation : public testing::TestWithParam<Operation> {};

TEST_P(EveryOperation, IsRightForEveryElementAndOperationOnElements) {
  const bool reducing =
      GetParam() == Operation::reduce || GetParam() == Operation::allreduce || GetParam() == Operation::reduce_scatter;
  for (const int ranks : corners<int>({4}, {1, 2, 3, 4, 7})) {
    std::vector<Case> cases;
    for (const Element element : kElements) {
      for (const ReduceOp op : kOps) {
        if (!reducing && op != ReduceOp::sum) continue;
        if (is_bitwise(op) && !is_integer(element)) continue;
        for (const std::size_t count : corners<std::size_t>({5, 2500}, {5, 2500, 40'000})) {
          Case one{.operation = GetParam(), .element = element, .op = op, .count = count, .root = ranks - 1};
          one.memory = count % 2 == 1 ? Memory::own : Memory::windows;
          cases.push_back(one);
        }
      }
    }
    expect_right(ranks, cases);
  }
}

TEST_P(EveryOperation, IsRightForEveryAlgorithmAndPlaceAroundEveryBorder) {
  for (const int ranks : corners<int>({3}, {2, 3, 5, 8})) {
    std::vector<Case> cases;
    for (const Algorithm algorithm : algorithms_of(GetParam())) {
      for (const std::size_t count : counts_around(GetParam(), sizeof(double), ranks)) {
        Case one{.operation = GetParam(), .element = Element::float64, .count = count, .algorithm = algorithm};
        one.root = collectives::has_root(GetParam()) ? static_cast<int>(count % static_cast<std::size_t>(ranks)) : 0;
        add_places(cases, one);
      }
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

TEST(Messages, ArriveInOrderAndWhole) {
  run_ranks(4, [](Domain me) {
    const int left = (me.rank() + me.size() - 1) % me.size();
    const int right = (me.rank() + 1) % me.size();
    for (const std::size_t count : {0U, 1U, 100U, 2047U, 2048U, 2049U, 40'000U}) {
      for (int round = 0; round < 3; ++round) {
        std::vector<float> out(count, static_cast<float>(me.rank() * 100 + round));
        std::vector<float> in(count, -1);
        // Large messages wait for their receiver: one of each pair receives first.
        if (me.rank() % 2 == 0) {
          send(me, right, out);
          recv(me, left, in);
        } else {
          recv(me, left, in);
          send(me, right, out);
        }
        EXPECT_EQ(in, std::vector<float>(count, static_cast<float>(left * 100 + round)));
      }
    }
  });
}

TEST(AllToAllV, MovesBlocksOfAllSizes) {
  for (const bool in_window : {false, true}) {
    run_ranks(5, [&](Domain me) {
      const auto size = [](int from, int to) { return static_cast<std::size_t>((from * 5 + to * 3) % 7) * 4000; };
      std::vector<std::size_t> sends;
      std::vector<std::size_t> receives;
      std::vector<std::int32_t> in;
      std::vector<std::int32_t> expected;
      for (int peer = 0; peer < me.size(); ++peer) {
        sends.push_back(size(me.rank(), peer));
        receives.push_back(size(peer, me.rank()));
        in.insert(in.end(), sends.back(), me.rank() * 10 + peer);
        expected.insert(expected.end(), receives.back(), peer * 10 + me.rank());
      }
      auto window = me.window<std::int32_t>("out", 5 * 7 * 4000);
      std::vector<std::int32_t> own(expected.size());
      const Data out = in_window ? Data(window).slice(0, expected.size()) : Data(own);
      all_to_all_v(me, in, sends, out, receives);
      if (in_window) own.assign(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(expected.size()));
      EXPECT_EQ(own, expected);
    });
  }
}

}  // namespace
}  // namespace baton::test
