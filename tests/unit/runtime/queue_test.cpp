// How tasks get from the submitter to the threads that run them: each exactly once.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "chip/sched/core_thread.hpp"
#include "chip/sched/dealer.hpp"
#include "chip/sched/inbox.hpp"
#include "support/scale.hpp"

namespace baton::chip {
namespace {

std::vector<Task> tasks_with_numbers(std::size_t count) {
  std::vector<Task> tasks(count);
  for (std::size_t i = 0; i < count; ++i) tasks[i].id = i + 1;
  return tasks;
}

TEST(Inbox, GivesAShareInOrderAndAtLeastOne) {
  auto inbox = std::make_unique<Inbox>();
  std::vector<Task> tasks = tasks_with_numbers(20);
  for (Task& task : tasks) ASSERT_TRUE(inbox->push(task));
  std::array<Task*, 4> room{};
  ASSERT_EQ(inbox->take(room, 8).size(), 2U);
  EXPECT_EQ(room[0]->id, 1U);
  EXPECT_EQ(room[1]->id, 2U);
  ASSERT_EQ(inbox->take(room, 2).size(), 4U) << "no more than there is room for";
  EXPECT_EQ(room[3]->id, 6U);
  ASSERT_EQ(inbox->take(room, 100).size(), 1U) << "one, however small the share";
  EXPECT_EQ(inbox->size(), 13U);
  for (TaskId id = 8; id <= 20; ++id) ASSERT_EQ(inbox->pop()->id, id);
  EXPECT_TRUE(inbox->take(room, 1).empty());
  EXPECT_TRUE(inbox->empty());
}

TEST(Inbox, EachTaskGoesToOneOfSeveralTakers) {
  auto inbox = std::make_unique<Inbox>();
  std::vector<Task> tasks = tasks_with_numbers(static_cast<std::size_t>(test::scaled(200'000)));
  std::vector<std::atomic<int>> taken(tasks.size());
  std::atomic<std::size_t> left{tasks.size()};
  const auto take = [&](std::size_t most, std::uint64_t share) {
    std::array<Task*, 8> room{};
    while (left.load() > 0) {
      const std::span<Task*> some = inbox->take(std::span(room).first(most), share);
      for (const Task* task : some) ++taken[task->id - 1];
      left -= some.size();
      if (some.empty()) std::this_thread::yield();
    }
  };
  std::thread alone(take, 1, 1), many(take, 8, 2), few(take, 3, 8);
  for (Task& task : tasks) {
    while (!inbox->push(task)) std::this_thread::yield();
  }
  alone.join();
  many.join();
  few.join();
  for (std::size_t i = 0; i < taken.size(); ++i) ASSERT_EQ(taken[i].load(), 1) << "task " << i + 1;
}

TEST(CoreThread, TakesSeveralAtATimeOnlyWhileTasksAreShort) {
  auto thread = std::make_unique<CoreThread>();
  std::vector<Task> tasks = tasks_with_numbers(64);
  for (Task& task : tasks) ASSERT_TRUE(thread->inbox(Cores::vector).push(task));
  EXPECT_EQ(thread->pop_own(Cores::vector)->id, 1U);
  EXPECT_FALSE(thread->has_own(Cores::vector)) << "of tasks that nothing is known of, nobody takes more than it runs";
  thread->task_ns = 100;
  EXPECT_EQ(thread->pop_own(Cores::vector)->id, 2U);
  TaskId next = 3;
  while (Task* task = thread->pop_kept(Cores::vector)) EXPECT_EQ(task->id, next++);
  EXPECT_GT(next, 4U);
  EXPECT_EQ(thread->pop(Cores::vector)->id, next);
  thread->task_ns = 1'000'000;
  while (thread->pop_own(Cores::vector) != nullptr) EXPECT_FALSE(thread->has_own(Cores::vector));
}

/// How many tasks each of `threads` gets of `tasks`, when each takes one of its own whenever `period` have been
/// submitted.
std::vector<int> dealt(std::size_t threads, int tasks, int period) {
  Dealer dealer;
  std::vector<int> waiting(threads), got(threads);
  for (int i = 1; i <= tasks; ++i) {
    const std::size_t thread =
        dealer.next(threads, [&](std::size_t of) { return static_cast<std::uint64_t>(waiting[of]); });
    ++waiting[thread];
    ++got[thread];
    if (i % period != 0) continue;
    for (int& left : waiting) left = std::max(0, left - 1);
  }
  return got;
}

TEST(Dealer, OneThreadGetsAllAsLongAsItKeepsUp) {
  EXPECT_EQ(dealt(4, 1000, 1), (std::vector{1000, 0, 0, 0}));
  EXPECT_EQ(dealt(1, 1000, 1000), (std::vector{1000}));
}

TEST(Dealer, AsManyThreadsTakePartAsAreNeeded) {
  const std::vector<int> some = dealt(16, 10'000, 4);
  EXPECT_EQ(std::accumulate(some.begin(), some.end(), 0), 10'000);
  EXPECT_GT(std::ranges::min(std::span(some).first(4)), 10'000 / 4 / 2) << "each can do a quarter";
  EXPECT_EQ(some[4], 0) << "four are enough";
  const std::vector<int> all = dealt(16, 10'000, 100);
  EXPECT_GT(std::ranges::min(all), 10'000 / 16 / 2) << "of long ones each gets about as many";
}

}  // namespace
}  // namespace baton::chip
