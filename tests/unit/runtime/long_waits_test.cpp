// Tasks that are deferred for long: others are shown them, however many there are.
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "chip/cores/local_memory.hpp"
#include "chip/sched/deferred.hpp"
#include "support/scale.hpp"

namespace baton::chip {
namespace {

/// Counts what it is told to show.
class ShowingMemory : public LocalMemory {
 public:
  [[nodiscard]] bool shows(const std::int32_t* /*word*/) const override { return true; }
  void show_deferred(std::span<const DeferredWait> oldest, std::size_t others) override {
    shown = oldest.size() + others;
    first = oldest.empty() ? nullptr : oldest.front().word;
    described += oldest.size();
  }
  [[nodiscard]] std::chrono::nanoseconds wait_timeout() const noexcept override { return timeout; }

  std::size_t shown = 0;  // now
  const std::int32_t* first = nullptr;
  std::size_t described = 0;  // in all
  std::chrono::nanoseconds timeout = std::chrono::hours(1);
};

/// Tasks that wait for a word each.
struct ManyWaits {
  explicit ManyWaits(std::size_t count) : words(count), tasks(count) {
    memory.add_buffer(words.data(), words.size() * sizeof(std::int32_t), "words");
    for (std::size_t i = 0; i < count; ++i) {
      tasks[i].id = i;
      EXPECT_TRUE(deferred.add({ConditionKind::counter, &words[i], 1}, tasks[i]));
    }
  }
  void look() {
    deferred.look(DeferredTasks::Beside::nothing, [&](Task& task, const std::exception_ptr& cause) {
      ++(cause == nullptr ? met : failed);
      last = task.id;
    });
  }
  /// Until nothing changes any more but by a word that does.
  void let_time_pass() {
    while (deferred.next_look() < Deadline::Clock::now() + std::chrono::minutes(1)) {
      std::this_thread::sleep_until(deferred.next_look());
      look();
    }
  }
  void tell(std::size_t word) {
    std::atomic_ref(words[word]).store(1, std::memory_order_release);
    memory.tell_change(&words[word]);
    look();
  }

  ShowingMemory memory;
  std::vector<std::int32_t> words;
  std::vector<Task> tasks;
  DeferredTasks deferred{memory};
  std::size_t met = 0;
  std::size_t failed = 0;
  TaskId last = std::numeric_limits<TaskId>::max();
};

TEST(LongWaits, AreShownFromTheOldestOn) {
  ManyWaits waits(100);
  EXPECT_EQ(waits.memory.shown, 0U);
  waits.let_time_pass();
  EXPECT_EQ(waits.memory.shown, 100U);
  EXPECT_EQ(waits.memory.first, &waits.words[0]);
  waits.tell(50);
  EXPECT_EQ(waits.memory.shown, 99U);
  EXPECT_EQ(waits.memory.first, &waits.words[0]);
  waits.tell(0);
  EXPECT_EQ(waits.memory.shown, 98U);
  EXPECT_EQ(waits.memory.first, &waits.words[1]);
}

TEST(LongWaits, EndOneByOneWithoutALookAtTheOthers) {
  const auto count = static_cast<std::size_t>(test::scaled(2000));
  ManyWaits waits(count);
  waits.let_time_pass();
  ASSERT_EQ(waits.memory.shown, count);
  const std::size_t before = waits.memory.described;
  for (std::size_t i = 0; i < count; ++i) {
    waits.tell(i);
    ASSERT_EQ(waits.met, i + 1);
    ASSERT_EQ(waits.last, i);
    ASSERT_EQ(waits.memory.shown, count - i - 1);
  }
  // A few for each that ended; it would be half of the square.
  EXPECT_LE(waits.memory.described - before, 8 * count);
  EXPECT_EQ(waits.deferred.count(), 0U);
}

TEST(LongWaits, EndWhenTheyHaveTakenTooLong) {
  for (const auto timeout : {std::chrono::milliseconds(20), std::chrono::milliseconds(250)}) {
    ManyWaits waits(0);
    waits.memory.timeout = timeout;
    std::vector<std::int32_t> words(50);
    std::vector<Task> tasks(words.size());
    waits.memory.add_buffer(words.data(), words.size() * sizeof(std::int32_t), "more words");
    for (std::size_t i = 0; i < words.size(); ++i)
      EXPECT_TRUE(waits.deferred.add({ConditionKind::counter, &words[i], 1}, tasks[i]));
    waits.let_time_pass();
    EXPECT_EQ(waits.failed, words.size());
    EXPECT_EQ(waits.met, 0U);
    EXPECT_EQ(waits.deferred.count(), 0U);
    EXPECT_EQ(waits.memory.shown, 0U);
  }
}

}  // namespace
}  // namespace baton::chip
