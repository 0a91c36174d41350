// Times of two processors differ by a little: what is recorded may be out of order.
#include <gtest/gtest.h>

#include <baton/signal.hpp>

#include "base/checked_order.hpp"
#include "support/recorded.hpp"

namespace baton::test {
namespace {

constexpr std::uint64_t kChip = 17;
constexpr std::uint64_t kData = 100;
constexpr std::uint64_t kSignal = 200;
constexpr Activity kKernel = Activity{1} << 40U | 1;
constexpr Activity kCondition = kKernel + 1;
constexpr Activity kReader = kKernel + 2;

struct Recording {
  std::uint64_t first = ticks();

  void add(std::uint64_t at, EventKind kind, std::uint32_t rank, Activity activity, std::uint64_t a,
           std::uint64_t b = 0, std::uint64_t c = 0) const {
    events::record({.begin = first + at, .end = activity, .kind = kind, .rank = rank, .a = a, .b = b, .c = c});
  }
  void add(std::uint64_t at, EventKind kind, std::uint32_t rank, Activity activity, const CheckedBytes& bytes) const {
    EventRecord event{.begin = first + at, .end = activity, .kind = kind, .rank = rank};
    pack(bytes, event);
    events::record(event);
  }
};

/// Rank 1 writes and notifies. Task 1 of rank 0 is deferred until then, and task 2, which follows it, reads.
TEST(Clocks, ATaskIsBehindTheConditionsOfTheOneBeforeItWhicheverTimesTheyHave) {
  const Recorded recorded = record([] {
    const Recording all;
    const auto ended = task_token(kChip, 1, TaskMoment::ended);
    for (const std::uint64_t task : {1, 2}) {
      all.add(1, EventKind::hand, 0, 0, task_token(kChip, task, TaskMoment::submitted));
    }
    all.add(2, EventKind::edge, 0, all.first + 2, 2, 1, kChip);
    all.add(3, EventKind::begun, 0, kKernel, 1, kChip);
    all.add(4, EventKind::hand, 0, kKernel, ended);
    all.add(5, EventKind::touch, 1, 0, CheckedBytes{.memory = kData, .how = 1, .last = 8});
    // The clock of rank 1 is late: the notify comes after what it ended.
    all.add(10, EventKind::saw, 0, kCondition,
            CheckedBytes{.memory = kSignal, .how = static_cast<std::uint8_t>(WaitCmp::ge), .word_bytes = 4, .last = 1});
    all.add(11, EventKind::hand, 0, kCondition, ended);
    all.add(12, EventKind::begun, 0, kReader, 2, kChip);
    all.add(13, EventKind::touch, 0, kReader, CheckedBytes{.memory = kData, .how = 0, .last = 8});
    all.add(
        14, EventKind::change, 1, 0,
        CheckedBytes{.memory = kSignal, .how = static_cast<std::uint8_t>(NotifyOp::add), .word_bytes = 4, .last = 1});
  });
  EXPECT_EQ(recorded.text(), "");
  EXPECT_EQ(recorded.findings.accesses, 2U);
}

}  // namespace
}  // namespace baton::test
