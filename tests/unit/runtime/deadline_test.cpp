// What happens when a notification never comes. A program of its own: it waits for less long than others.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pto_async_kernel_api.h>
#include <baton/chip.hpp>

#include "support/require.hpp"

/// (flag): complete when the flag is 1. Takes so long that the other threads of the chip fall asleep before.
extern "C" void deadline_test_slow(int64_t* args) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, reinterpret_cast<int32_t*>(args[0]), 1);
}

/// The same, half a patience later: a report, one in each patience, falls into the time that the task is deferred.
extern "C" void deadline_test_slower(int64_t* args) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  deadline_test_slow(args);
}

extern "C" void deadline_test_very_slow(int64_t* args) {
  std::this_thread::sleep_for(std::chrono::milliseconds(900));
  deadline_test_slow(args);
}

namespace baton::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Before anybody asks for the options.
const int kShortPatience = ::setenv("BATON_WAIT_TIMEOUT", "200ms", 1);

constexpr Kernel kSlow = {"slow", deadline_test_slow, nullptr, BATON_CORE_VECTOR, 0};
constexpr Kernel kSlower = {"slower", deadline_test_slower, nullptr, BATON_CORE_VECTOR, 0};
constexpr Kernel kVerySlow = {"very_slow", deadline_test_very_slow, nullptr, BATON_CORE_VECTOR, 0};

TEST(Trap5Deferred, AConditionThatNobodyMeetsFailsAtItsDeadline) {
  ASSERT_EQ(kShortPatience, 0);
  Chip chip({.clusters = 4, .workers = 2});
  const Tensor signal = chip.alloc<std::int32_t>({1}, "signal");
  auto* word = reinterpret_cast<std::int32_t*>(signal.address());
  for (int round = 0; round < 3; ++round) {
    require_error(Code::wait_timeout, {"slow (task", "deferred 0.2 s", "counter >= 1 (has 0)", "signal+0"},
                  [&] { chip.run([&](Graph& g) { g.submit(kSlow, {word}); }); });
    require_error(Code::wait_timeout, {"deferred 0.2 s", "deadline_test.cpp"},
                  [&] { chip.run([&](Graph& g) { static_cast<void>(g.submit_notification_wait(word, 1)); }); });
  }
}

/// What a warning about a run that does not get on says.
template <class Action>
std::string warning_of(Action&& action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

TEST(Stall, AKernelThatTakesLongIsNamedWithItsCore) {
  Chip chip({.clusters = 4, .workers = 2});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  auto* word = reinterpret_cast<std::int32_t*>(flag.address());
  *word = 1;
  EXPECT_THAT(warning_of([&] { chip.run([&](Graph& g) { g.submit(kVerySlow, {word}); }); }),
              AllOf(HasSubstr("waits for all tasks"), HasSubstr("1 in kernels"), HasSubstr("vector core"),
                    HasSubstr("very_slow (task 1, submitted at"), HasSubstr("deadline_test.cpp")));
}

TEST(Stall, WhatIsDeferredIsNamedWithThoseThatWaitForIt) {
  Chip chip({.clusters = 4, .workers = 2});
  const Tensor flags = chip.alloc<std::int32_t>({2}, "flags");
  auto* words = reinterpret_cast<std::int32_t*>(flags.address());
  words[0] = 1;
  const auto orchestration = [&](Graph& g) {
    g.submit(kVerySlow, {words});
    const TaskId deferred = g.submit(kSlower, {words + 1});
    g.submit(kSlow, {words}, {.after = {deferred}});
  };
  const auto run = [&] { require_error(Code::wait_timeout, {"slower (task 2"}, [&] { chip.run(orchestration); }); };
  EXPECT_THAT(warning_of(run), AllOf(HasSubstr("1 deferred: slower (task 2"), HasSubstr("counter >= 1 (has 0)"),
                                     HasSubstr("(1 waits for it: slow (task 3")));
}

TEST(Stall, AFullWindowIsNamed) {
  Chip chip({.clusters = 1, .workers = 1, .task_window = 2});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  auto* word = reinterpret_cast<std::int32_t*>(flag.address());
  *word = 1;
  const auto orchestration = [&](Graph& g) {
    const TaskId first = g.submit(kVerySlow, {word});
    for (int i = 0; i < 4; ++i) g.submit(kSlow, {word}, {.after = {first}});
  };
  EXPECT_THAT(warning_of([&] { chip.run(orchestration); }),
              AllOf(HasSubstr("room in the window of 2 tasks (BATON_TASK_WINDOW)"), HasSubstr("very_slow (task 1")));
}

}  // namespace
}  // namespace baton::test
