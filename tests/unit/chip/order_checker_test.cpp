// The order of pipes: the checker against an oracle that searches a graph.
#include "chip/cores/sim/order_checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include <pto/order/touches.hpp>

#include "chip/cores/local_memory.hpp"
#include "order_oracle.hpp"

namespace baton::chip {
namespace {

constexpr BatonPlace kPlace{"TADD", "kernel.cpp", 1, 0};

/// One core whose Vec buffer is as large as the oracle's memory.
struct Fixture {
  Fixture() { buffers[0] = {bytes.data(), bytes.size()}; }
  std::array<unsigned char, OrderOracle::kBytes> bytes{};
  BatonBuffer buffers[BATON_CORE_BUFFERS] = {};
  LocalMemory memory;
  OrderChecker checker{buffers, BufferSet::vector, memory};
};

/// A random access: a few rows with gaps between them.
struct RandomRange {
  RandomRange(std::mt19937& random, const unsigned char* base) {
    const std::uint64_t pitch = 1 + random() % 16;
    const std::uint64_t row = 1 + random() % pitch;
    const std::uint64_t rows = 1 + random() % 4;
    const std::uint64_t span = (rows - 1) * pitch + row;
    const std::uint64_t begin = random() % (OrderOracle::kBytes - span + 1);
    const auto access = static_cast<std::uint32_t>(1 + random() % 3);
    for (std::uint64_t r = 0; r < rows; ++r) {
      for (std::uint64_t i = 0; i < row; ++i) bytes.set(begin + r * pitch + i);
    }
    tile = {0, access, base + begin, rows, row, pitch};
    global = {base + begin,
              access,
              1,
              {1, 1, static_cast<std::int64_t>(rows), 1, static_cast<std::int64_t>(row)},
              {0, 0, static_cast<std::int64_t>(pitch), 0, 1}};
  }
  BatonTileRange tile;
  BatonGlobalRange global;
  OrderOracle::Bytes bytes;
};

/// How a GPU remembers: a list of accesses, at which several lanes look.
class ListOfTouches {
 public:
  ListOfTouches() { touches_->clear(); }

  /// `of_memory`: with what is known of memory.
  bool issue(const BatonIssue& issue, std::uint32_t of_memory = 0) {
    const PipeClock now = order.issue(issue.pipes);
    bool conflict = false;
    const auto touch = [&](const auto& range) {
      const kernel::Runs runs = kernel::runs_of(range);
      const std::uint32_t first = kernel::first_pipe(issue.pipes);
      const kernel::Touch next{kernel::span_of(runs), now[first], static_cast<std::uint16_t>(issue.pipes),
                               static_cast<std::uint16_t>(range.access | of_memory), first};
      kernel::Found found{kernel::kNoTouch, kernel::kNoTouch};
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const kernel::Found one = touches_->look(next, runs, now, order, kernel::kVectorPipes, lane, kLanes);
        found.conflict = std::min(found.conflict, one.conflict);
        found.free = std::min(found.free, one.free);
      }
      conflict = conflict || found.conflict != kernel::kNoTouch;
      touches_->add(next, runs, *issue.place, found.free);
    };
    for (std::uint32_t i = 0; i < issue.tile_count; ++i) touch(issue.tiles[i]);
    for (std::uint32_t i = 0; i < issue.global_count; ++i) touch(issue.globals[i]);
    return conflict;
  }
  void barrier() {
    order.barrier();
    touches_->clear();
  }
  [[nodiscard]] std::uint32_t count() const { return touches_->count; }

  kernel::PipeOrder order;

 private:
  static constexpr std::uint32_t kLanes = 3;
  /// One for all tests: it is large.
  static kernel::Touches* room() {
    static const auto touches = std::make_unique<kernel::Touches>();
    return touches.get();
  }
  kernel::Touches* touches_ = room();
};

/// Runs a random kernel through all of them until the first conflict; the number of instructions until then, or -1.
struct RandomKernel {
  explicit RandomKernel(unsigned seed) : random(seed) {}

  bool step() {
    constexpr std::uint32_t kChosen[] = {0, 1, 3, 4};
    const auto pipe = [&] { return kChosen[random() % 4]; };
    switch (random() % 8) {
      case 0: {
        const std::uint32_t producer = pipe();
        const std::uint32_t consumer = pipe();
        if (producer == consumer || !set.insert({producer, consumer}).second) return true;
        fixture.checker.set_flag(producer, consumer, 0);
        list.order.set_flag(producer, consumer, 0);
        oracle.set_flag(producer, consumer, 0);
        return true;
      }
      case 1:
      case 2: {
        if (set.empty()) return true;
        const auto flag = *std::next(set.begin(), static_cast<std::ptrdiff_t>(random() % set.size()));
        set.erase(flag);
        fixture.checker.wait_flag(flag.first, flag.second, 0);
        list.order.wait_flag(flag.first, flag.second, 0);
        oracle.wait_flag(flag.first, flag.second, 0);
        return true;
      }
      case 3:
        if (random() % 4 != 0) return true;
        fixture.checker.barrier(kernel::kAllPipes);
        list.barrier();
        oracle.barrier();
        return true;
      default: break;
    }
    return issue(random() % 4 == 0 ? 0b11000U : 1U << pipe());
  }

  bool issue(std::uint32_t pipes) {
    const RandomRange range(random, fixture.bytes.data());
    const bool reads = (range.tile.access & BATON_READS) != 0;
    const bool writes = (range.tile.access & BATON_WRITES) != 0;
    const bool as_tile = random() % 2 == 0;
    const BatonIssue issue{&kPlace, pipes, as_tile ? 1U : 0U, &range.tile, &range.global, as_tile ? 0U : 1U, 0};
    const bool expected =
        oracle.issue(pipes, reads ? range.bytes : OrderOracle::Bytes{}, writes ? range.bytes : OrderOracle::Bytes{});
    const auto found = fixture.checker.issue(issue);
    EXPECT_EQ(found.has_value(), expected) << found.value_or("nothing found");
    EXPECT_EQ(list.issue(issue), expected);
    conflict = expected;
    return !conflict && found.has_value() == expected;
  }

  std::mt19937 random;
  Fixture fixture;
  OrderOracle oracle;
  ListOfTouches list;
  std::set<std::pair<std::uint32_t, std::uint32_t>> set;
  bool conflict = false;
};

TEST(OrderChecker, FindsExactlyWhatASearchThroughTheGraphFinds) {
  int conflicts = 0;
  int steps = 0;
  for (unsigned seed = 0; seed < 20'000 && !HasFailure(); ++seed) {
    RandomKernel kernel(seed);
    for (int i = 0; i < 60 && kernel.step(); ++i) ++steps;
    conflicts += kernel.conflict ? 1 : 0;
  }
  // Both answers occur often.
  EXPECT_GT(conflicts, 1000);
  EXPECT_GT(steps, 100'000);
}

TEST(OrderChecker, MemoryOfLongKernelsStaysBounded) {
  // A pipeline that never uses a barrier and touches new memory all the time: what is over is forgotten.
  Fixture fixture;
  std::vector<unsigned char> memory(1 << 20);
  for (std::size_t i = 0; i + 8 <= memory.size(); i += 16) {
    const BatonGlobalRange range{&memory[i], BATON_READS, 1, {1, 1, 1, 1, 8}, {0, 0, 0, 0, 1}};
    const BatonIssue load{&kPlace, 1U << 3U, 0, nullptr, &range, 1, 0};
    ASSERT_FALSE(fixture.checker.issue(load));
    fixture.checker.set_flag(3, 0, 0);
    fixture.checker.wait_flag(3, 0, 0);
  }
  EXPECT_LT(fixture.checker.remembered(), 10'000U);
}

TEST(OrderChecker, AListOfTouchesStaysShortWithoutTheScalarPipe) {
  // Loads that are computed with and stored, one after the other: nobody waits on the scalar pipe.
  ListOfTouches list;
  std::vector<unsigned char> memory(1 << 16);
  const auto hand = [&](std::uint32_t producer, std::uint32_t consumer) {
    list.order.set_flag(producer, consumer, 0);
    list.order.wait_flag(producer, consumer, 0);
  };
  for (std::size_t i = 0; i + 8 <= memory.size(); i += 16) {
    const auto range = [&](std::uint32_t access) {
      return BatonGlobalRange{&memory[i], access, 1, {1, 1, 1, 1, 8}, {0, 0, 0, 0, 1}};
    };
    const BatonGlobalRange read = range(BATON_READS);
    const BatonGlobalRange written = range(BATON_WRITES);
    ASSERT_FALSE(list.issue({&kPlace, 1U << 3U, 0, nullptr, &read, 1, 0}, kernel::kOfMemory));
    hand(3, 1);
    hand(1, 4);
    ASSERT_FALSE(list.issue({&kPlace, 1U << 4U, 0, nullptr, &written, 1, 0}, kernel::kOfMemory));
    hand(4, 3);
  }
  EXPECT_LT(list.count(), 10U);
}

TEST(OrderChecker, ACopyIsUnderWayUntilItIsAwaited) {
  Fixture fixture;
  const auto copy = [&](std::uint64_t session, std::size_t to, std::size_t from) {
    return BatonCopy{session, &fixture.bytes[to], &fixture.bytes[from], 8, nullptr, 0, 0};
  };
  const auto access = [&](std::size_t at, std::uint32_t how) {
    const BatonGlobalRange range{&fixture.bytes[at], how, 1, {1, 1, 1, 1, 8}, {0, 0, 0, 0, 1}};
    const BatonIssue issue{&kPlace, 1U << 3U, 0, nullptr, &range, 1, 0};
    return fixture.checker.issue(issue).has_value();
  };
  ASSERT_FALSE(fixture.checker.submit(copy(1, 0, 16), 100, kPlace));
  ASSERT_FALSE(fixture.checker.submit(copy(1, 8, 24), 101, kPlace));
  EXPECT_FALSE(access(16, BATON_READS));                              // both read
  EXPECT_TRUE(access(20, BATON_WRITES));                              // what is still being read
  EXPECT_TRUE(access(4, BATON_READS));                                // half of what is still being written
  EXPECT_TRUE(fixture.checker.submit(copy(2, 32, 4), 102, kPlace));   // another session
  EXPECT_FALSE(fixture.checker.submit(copy(1, 32, 4), 103, kPlace));  // the same one
  fixture.checker.awaited(101);
  EXPECT_FALSE(access(4, BATON_READS));  // the first is complete because the second is
  EXPECT_TRUE(access(36, BATON_READS));  // the third is not
  fixture.checker.awaited(103);
  EXPECT_FALSE(access(36, BATON_READS));
  // A store that is not drained is not there yet when the engine reads.
  EXPECT_FALSE(access(48, BATON_WRITES));
  EXPECT_TRUE(fixture.checker.submit(copy(1, 0, 48), 104, kPlace));
  fixture.checker.set_flag(3, 0, 0);
  fixture.checker.wait_flag(3, 0, 0);
  EXPECT_FALSE(fixture.checker.submit(copy(1, 0, 48), 104, kPlace));
}

}  // namespace
}  // namespace baton::chip
