// What happens when a notification never comes. A program of its own: it waits for less long than others.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pto_async_kernel_api.h>
#include <baton/chip.hpp>
#include <baton/options.hpp>

#include "base/deadline.hpp"
#include "base/text_file.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace {

/// Waits, as a kernel that has much to do, until `what` holds; a test that this ends fails by itself.
template <class What>
void work_until(What&& what) {
  const auto limit = baton::Deadline::after(std::chrono::seconds(baton::test::patience_seconds()));
  while (!what() && !limit.passed()) std::this_thread::yield();
}

/// Whether all other threads of this process sleep.
bool others_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    const auto stat = baton::read_text_file((task.path() / "stat").string());
    // The state follows the name, which is in parentheses.
    if (stat && stat->substr(stat->rfind(')') + 2, 1) != "S") return false;
  }
  return true;
}

/// The bytes of standard error, which is a file while a test captures it.
off_t error_bytes() {
  struct stat status {};
  return ::fstat(STDERR_FILENO, &status) == 0 ? status.st_size : 0;
}

/// Waits until as many more reports have been written.
void work_until_reports(int count) {
  for (int report = 0; report < count; ++report) {
    const off_t before = error_bytes();
    work_until([&] { return error_bytes() > before; });
  }
}

}  // namespace

/// (flag): complete when the flag is 1. Takes so long that the other threads of the chip fall asleep before.
extern "C" void deadline_test_slow(int64_t* args) {
  work_until(others_sleep);
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, reinterpret_cast<int32_t*>(args[0]), 1);
}

/// (flag): the same, and works until a report about the run has been written, then half a patience longer: the next
/// report falls into the time that the task is deferred.
extern "C" void deadline_test_deferred_between_reports(int64_t* args) {
  work_until_reports(1);
  const auto half = baton::Deadline::after(baton::options().wait_timeout / 2);
  work_until([&] { return half.passed(); });
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, reinterpret_cast<int32_t*>(args[0]), 1);
}

/// Works until a report about the run has been written.
extern "C" void deadline_test_works_long(int64_t*) { work_until_reports(1); }

/// Works until three have.
extern "C" void deadline_test_works_longer(int64_t*) { work_until_reports(3); }

namespace baton::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Before anybody asks for the options.
const int kShortPatience = ::setenv("BATON_WAIT_TIMEOUT", "200ms", 1);

constexpr Kernel kSlow = {"slow", deadline_test_slow, nullptr, BATON_CORE_VECTOR, 0};
constexpr Kernel kDeferred = {"deferred", deadline_test_deferred_between_reports, nullptr, BATON_CORE_VECTOR, 0};
constexpr Kernel kLong = {"long", deadline_test_works_long, nullptr, BATON_CORE_VECTOR, 0};
constexpr Kernel kLonger = {"longer", deadline_test_works_longer, nullptr, BATON_CORE_VECTOR, 0};

TEST(Trap5Deferred, AConditionThatNobodyMeetsFailsAtItsDeadline) {
  ASSERT_EQ(kShortPatience, 0);
  Chip chip({.clusters = 4, .threads = 2});
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
  Chip chip({.clusters = 4, .threads = 2});
  EXPECT_THAT(
      warning_of([&] { chip.run([&](Graph& g) { g.submit(kLong, {}); }); }),
      AllOf(HasSubstr("for all tasks"), HasSubstr("1 in kernels"), HasSubstr("vector core"),
            HasSubstr("long (task 1, submitted at"), HasSubstr("deadline_test.cpp"), HasSubstr(", computing ")));
}

TEST(Stall, WhatIsDeferredIsNamedWithThoseThatWaitForIt) {
  Chip chip({.clusters = 4, .threads = 3});
  const Tensor flag = chip.alloc<std::int32_t>({1}, "flag");
  auto* word = reinterpret_cast<std::int32_t*>(flag.address());
  const auto orchestration = [&](Graph& g) {
    g.submit(kLonger, {});
    const TaskId deferred = g.submit(kDeferred, {word});
    g.submit(kLong, {}, {.after = {deferred}});
  };
  const auto run = [&] { require_error(Code::wait_timeout, {"deferred (task 2"}, [&] { chip.run(orchestration); }); };
  // A task is deferred for as long as there is from one report to the next: on a busy machine both may miss it.
  std::string warning;
  for (int attempt = 0; attempt < 20 && warning.find("1 deferred") == std::string::npos; ++attempt)
    warning = warning_of(run);
  EXPECT_THAT(warning, AllOf(HasSubstr("1 deferred: deferred (task 2"), HasSubstr("counter >= 1 (has 0)"),
                             HasSubstr("(1 waits for it: long (task 3")));
}

TEST(Stall, AFullWindowIsNamed) {
  Chip chip({.clusters = 1, .threads = 1, .task_window = 2});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  auto* word = reinterpret_cast<std::int32_t*>(flag.address());
  *word = 1;
  const auto orchestration = [&](Graph& g) {
    const TaskId first = g.submit(kLong, {});
    for (int i = 0; i < 4; ++i) g.submit(kSlow, {word}, {.after = {first}});
  };
  EXPECT_THAT(warning_of([&] { chip.run(orchestration); }),
              AllOf(HasSubstr("room in the window of 2 tasks (BATON_TASK_WINDOW)"), HasSubstr("long (task 1")));
}

}  // namespace
}  // namespace baton::test
