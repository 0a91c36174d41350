// Times of two processors differ by a little: what is read is in the order in which it happened all the same.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

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

/// A thread has a stream of its own.
void on_another_thread(const std::function<void()>& body) { std::thread(body).join(); }

/// Rank 1 writes and notifies. Task 1 of rank 0 is deferred until then, and task 2, which follows it, reads.
TEST(Clocks, ATaskIsBehindTheConditionsOfTheOneBeforeItWhicheverTimesTheyHave) {
  const Recorded recorded = record([] {
    const Recording all;
    const auto ended = task_token(kChip, 1, TaskMoment::ended);
    for (const std::uint64_t task : {1U, 2U}) {
      all.add(1, EventKind::hand, 0, 0, task_token(kChip, task, TaskMoment::submitted));
    }
    all.add(2, EventKind::edge, 0, all.first + 2, 2, 1, kChip);
    all.add(3, EventKind::begun, 0, kKernel, 1, kChip);
    all.add(4, EventKind::hand, 0, kKernel, ended);
    all.add(5, EventKind::touch, 1, 0,
            CheckedBytes{.memory = kData, .how = static_cast<std::uint8_t>(CheckedUse::write), .last = 8});
    all.add(
        6, EventKind::change, 1, 0,
        CheckedBytes{.memory = kSignal, .how = static_cast<std::uint8_t>(NotifyOp::add), .word_bytes = 4, .last = 1});
    // The clock of who looks at conditions is ahead: task 2 seems to begin before that of task 1 holds.
    on_another_thread([&] {
      all.add(
          20, EventKind::saw, 0, kCondition,
          CheckedBytes{.memory = kSignal, .how = static_cast<std::uint8_t>(WaitCmp::ge), .word_bytes = 4, .last = 1});
      all.add(21, EventKind::hand, 0, kCondition, ended);
    });
    all.add(12, EventKind::begun, 0, kReader, 2, kChip);
    all.add(13, EventKind::touch, 0, kReader, CheckedBytes{.memory = kData, .how = 0, .last = 8});
  });
  EXPECT_EQ(recorded.text(), "");
  EXPECT_EQ(recorded.findings.accesses, 2U);
}

/// The processor of the kernels has a clock that is ahead of the program's, so that the program seems to have waited
/// for its second run before the kernel of that ended.
TEST(Clocks, AWaitForAllTasksIsBehindThemWhateverTheirTimes) {
  const CheckedBytes written{.memory = kData, .how = static_cast<std::uint8_t>(CheckedUse::write), .last = 8};
  const Recorded recorded = record([&] {
    const Recording all;
    for (const std::uint64_t task : {1U, 2U}) {
      const std::uint64_t now = 100 * task;
      const Activity kernel = kKernel + task;
      all.add(now, EventKind::hand, 0, 0, task_token(kChip, task, TaskMoment::submitted));
      on_another_thread([&] {
        all.add(now + 1, EventKind::begun, 0, kernel, task, kChip);
        all.add(now + 2, EventKind::touch, 0, kernel, written);
        all.add(now + 30, EventKind::hand, 0, kernel, task_token(kChip, task, TaskMoment::ended));
        all.add(now + 31, EventKind::hand, 0, kernel, tasks_token(kChip));
      });
      all.add(now + 20, EventKind::take, 0, 0, tasks_token(kChip));
      all.add(now + 21, EventKind::touch, 0, 0, written);
    }
  });
  EXPECT_EQ(recorded.text(), "");
  EXPECT_EQ(recorded.findings.accesses, 4U);
}

}  // namespace
}  // namespace baton::test
