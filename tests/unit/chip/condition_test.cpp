// Conditions that kernels register, and what becomes of them after the kernel returned.
#include "chip/cores/condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "chip_fixture.hpp"
#include "completion_kernels.hpp"

namespace baton::chip {
namespace {

using testing::HasSubstr;

/// A chip with two tensors and a few counters.
struct Setting {
  explicit Setting(std::chrono::nanoseconds wait_timeout = std::chrono::seconds(20)) : chip(wait_timeout) {
    std::iota(from.begin(), from.end(), 1.0F);
    chip.memory->add_buffer(counters.data(), sizeof counters, "counters");
  }
  std::pair<Code, std::string> run(KernelEntry entry, std::initializer_list<std::int64_t> args) {
    call.entry = entry;
    call.name = "kernel";
    std::copy(args.begin(), args.end(), call.args.begin());
    return failure_of(cores, cores.vector(0, 0), call);
  }
  /// Waits until the condition holds.
  [[nodiscard]] bool comes_true(const Condition& condition) const {
    return wait_until(
        chip.memory->parking_place(), [&] { return test(condition); }, Deadline::within(chip.memory->wait_timeout()),
        [] {});
  }
  LonelyChip chip;
  std::vector<float> from = std::vector<float>(50'000);
  std::vector<float> to = std::vector<float>(50'000);
  ChipTensor tfrom = tensor_over(*chip.memory, from, "from");
  ChipTensor tto = tensor_over(*chip.memory, to, "to");
  std::array<std::int32_t, 4> counters{};
  SimCores cores{profile_named("a2a3sim"), {.clusters = 1}, *chip.memory};
  KernelCall call;
};

TEST(Conditions, ACounterHoldsWhenItReachedItsValue) {
  Setting s;
  s.call.condition_capacity = 64;
  ASSERT_EQ(s.run(await_counter_kernel, {address(&s.counters[1]), 2, 1}).first, Code::ok);
  ASSERT_EQ(s.call.conditions.size(), 1U);
  const Condition& condition = s.call.conditions[0];
  EXPECT_EQ(condition.kind, ConditionKind::counter);
  EXPECT_FALSE(test(condition));
  s.chip.memory->notify(&s.counters[1], 1, NotifyOp::add, {});
  EXPECT_FALSE(test(condition));
  EXPECT_THAT(describe(condition), HasSubstr("counter >= 2 (has 1)"));
  s.chip.memory->notify(&s.counters[1], 1, NotifyOp::add, {});
  EXPECT_TRUE(test(condition));
  // Unsigned: a counter that passed the sign bit has not gone back.
  s.chip.memory->notify(&s.counters[1], INT32_MIN, NotifyOp::set, {});
  EXPECT_TRUE(test(condition));
}

TEST(Conditions, AKernelThatMayNotDeferWaitsItself) {
  Setting s;
  ASSERT_EQ(s.run(get_kernel, {address(&s.tfrom), address(&s.tto)}).first, Code::ok);
  EXPECT_TRUE(s.call.conditions.empty());
  EXPECT_EQ(s.from, s.to);
}

TEST(Conditions, ACopyHoldsWhenItsBytesAreThere) {
  Setting s;
  s.call.condition_capacity = 1;
  ASSERT_EQ(s.run(get_kernel, {address(&s.tfrom), address(&s.tto)}).first, Code::ok);
  ASSERT_EQ(s.call.conditions.size(), 1U);
  EXPECT_EQ(s.call.conditions[0].kind, ConditionKind::dma_event);
  EXPECT_TRUE(s.comes_true(s.call.conditions[0]));
  EXPECT_EQ(s.from, s.to);
}

TEST(Conditions, ARecordOutlivesTheChip) {
  std::vector<Condition> conditions;
  {
    Setting s;
    s.call.condition_capacity = 1;
    ASSERT_EQ(s.run(get_kernel, {address(&s.tfrom), address(&s.tto)}).first, Code::ok);
    conditions = s.call.conditions;
  }
  // A chip that ends finishes its copies.
  EXPECT_TRUE(test(conditions.at(0)));
}

TEST(Conditions, TheErrorOfACopyReachesItsTest) {
  Setting s;
  s.call.condition_capacity = 1;
  ASSERT_EQ(s.run(get_from_nowhere_kernel, {address(&s.tto)}).first, Code::ok);
  try {
    static_cast<void>(s.comes_true(s.call.conditions.at(0)));
    FAIL() << "the copy cannot have succeeded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::out_of_range);
    EXPECT_THAT(error.message(), HasSubstr("32 source bytes are in no tensor"));
  }
}

TEST(Conditions, RoomForThemIsABoundThatTheErrorNames) {
  Setting s;
  s.call.condition_capacity = 1000;
  ASSERT_EQ(s.run(await_counter_kernel, {address(&s.counters[0]), 1, 1000}).first, Code::ok);
  EXPECT_EQ(s.call.conditions.size(), 1000U);
  s.call.condition_capacity = 2;
  const auto [code, message] = s.run(await_counter_kernel, {address(&s.counters[0]), 1, 3});
  EXPECT_EQ(code, Code::too_many_conditions);
  EXPECT_THAT(message, HasSubstr("more than the 2 completion conditions"));
  EXPECT_TRUE(s.call.conditions.empty());
}

TEST(Conditions, NonsenseIsAnErrorOfTheKernel) {
  Setting s;
  s.call.condition_capacity = 4;
  EXPECT_EQ(s.run(senseless_kernel, {}).first, Code::invalid_argument);
  std::int32_t unknown = 0;
  const auto [code, message] = s.run(await_counter_kernel, {address(&unknown), 1, 1});
  EXPECT_EQ(code, Code::out_of_range) << message;
  EXPECT_EQ(s.run(await_counter_kernel, {address(&s.counters[0]) + 2, 1, 1}).first, Code::misaligned);
}

TEST(Conditions, TheOlderFormHasAQueue) {
  Setting s;
  s.call.condition_capacity = 1;
  s.call.completion_queue_slot = 3;
  ASSERT_EQ(s.run(await_counter_in_queue_kernel, {address(&s.counters[0]), 1, 64}).first, Code::ok);
  EXPECT_EQ(s.call.conditions.size(), 64U);
  EXPECT_EQ(s.run(await_counter_in_queue_kernel, {address(&s.counters[0]), 1, 65}).first, Code::too_many_conditions);
  s.call.completion_queue_slot = 2;
  const auto [code, message] = s.run(get_in_queue_kernel, {address(&s.tfrom), address(&s.tto)});
  ASSERT_EQ(code, Code::ok) << message;
  ASSERT_EQ(s.call.conditions.size(), 1U);
  EXPECT_EQ(s.call.conditions[0].kind, ConditionKind::dma_event);
  EXPECT_TRUE(s.comes_true(s.call.conditions[0]));
  EXPECT_EQ(s.from, s.to);
}

TEST(Conditions, ACounterShowsTheDataBeforeIt) {
  Setting s;
  const Condition condition{ConditionKind::counter, &s.counters[0], 0};
  int data = 0;
  int wrong = 0;
  constexpr int kRounds = 5000;
  std::thread producer([&] {
    for (int round = 1; round <= kRounds; ++round) {
      data = round;
      s.chip.memory->notify(&s.counters[0], round, NotifyOp::set, {});
      s.chip.memory->wait(&s.counters[1], WaitCmp::ge, round, {});
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    Condition next = condition;
    next.expected = static_cast<std::uint64_t>(round);
    EXPECT_TRUE(s.comes_true(next));
    wrong += data == round ? 0 : 1;
    s.chip.memory->notify(&s.counters[1], round, NotifyOp::set, {});
  }
  producer.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Waits, ThatReachTheirDeadlineRaiseAndNeverReturn) {
  Setting s(std::chrono::milliseconds(30));
  const auto [code, message] = s.run(wait_and_go_on_kernel, {address(&s.counters[0]), address(&s.counters[1])});
  EXPECT_EQ(code, Code::wait_timeout) << message;
  EXPECT_THAT(message, HasSubstr("TWAIT at"));
  EXPECT_EQ(s.counters[1], 0) << "the kernel went on";
}

}  // namespace
}  // namespace baton::chip
