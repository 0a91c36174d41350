#include <gtest/gtest.h>
#include <moe/describe.hpp>

namespace baton::moe {
namespace {

constexpr Problem kProblem{4, 3, 2, 10, 7, 2, 0};

TEST(MoeLayout, PartsFollowEachOtherOnLinesOfTheirOwn) {
  for (const int32_t capacity : {0, 1, 3, 1000}) {
    Problem problem = kProblem;
    problem.capacity = capacity;
    const Layout layout(problem);
    EXPECT_GE(layout.inbox(0), layout.counter(Counter::returns_taken) + 4);
    for (int64_t source = 0; source < problem.ranks; ++source) {
      EXPECT_EQ(layout.inbox(source) % 64, 0);
      EXPECT_EQ(layout.inbox_rows(source) % 64, 0);
      EXPECT_GE(layout.inbox_rows(source), layout.inbox(source) + 4 * (problem.experts_per_rank + 1));
      EXPECT_GE(layout.inbox(source + 1),
                layout.inbox_rows(source) + layout.sent_to_a_rank_at_most() * layout.row_bytes());
    }
    EXPECT_EQ(layout.returns(), layout.inbox(problem.ranks));
    EXPECT_GE(layout.window_bytes(), layout.returns() + layout.sent_at_most() * layout.row_bytes());
  }
}

TEST(MoeLayout, CapacityBoundsTheRows) {
  Problem problem = kProblem;
  EXPECT_EQ(Layout(problem).sent_at_most(), 20);
  EXPECT_EQ(Layout(problem).sent_to_a_rank_at_most(), 20);
  EXPECT_EQ(Layout(problem).received_at_most(), 80);
  problem.capacity = 1;
  EXPECT_EQ(Layout(problem).sent_at_most(), 12);
  EXPECT_EQ(Layout(problem).sent_to_a_rank_at_most(), 3);
  EXPECT_EQ(Layout(problem).received_at_most(), 12);
}

TEST(MoeLayout, DriversAreToldTheSame) {
  const int32_t numbers[] = {4, 3, 2, 10, 7, 2, 5};
  Sizes sizes{};
  ASSERT_EQ(describe(numbers, &sizes), nullptr);
  const Layout layout(Problem::from(numbers));
  EXPECT_EQ(sizes.window_bytes, layout.window_bytes());
  EXPECT_EQ(sizes.received_rows, layout.received_at_most());
  EXPECT_EQ(sizes.counter_bytes[2], layout.counter(Counter::returns_arrived));
  EXPECT_EQ(sizes.counter_per_round[0], 3);
  EXPECT_EQ(sizes.counter_per_round[1], 4);
}

TEST(MoeLayout, WhatMakesNoSenseIsTold) {
  const auto fault = [](auto change) {
    Problem problem = kProblem;
    change(problem);
    return problem_fault(problem);
  };
  EXPECT_EQ(fault([](Problem&) {}), nullptr);
  EXPECT_STREQ(fault([](Problem& p) { p.ranks = 0; }), "ranks: at least 1");
  EXPECT_STREQ(fault([](Problem& p) { p.top_k = -1; }), "top_k: at least 1");
  EXPECT_STREQ(fault([](Problem& p) { p.capacity = -1; }), "capacity: at least 0, which means no limit");
  EXPECT_STREQ(fault([](Problem& p) { p.experts_per_rank = INT32_MAX; }), "too many experts");
  EXPECT_STREQ(fault([](Problem& p) { p.tokens_at_most = INT32_MAX; }), "too many tokens");
  EXPECT_STREQ(fault([](Problem& p) { p.width = INT32_MAX; }), "too wide");
}

}  // namespace
}  // namespace baton::moe
