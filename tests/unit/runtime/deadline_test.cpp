// What happens when a notification never comes. A program of its own: it waits for less long than others.
#include <chrono>
#include <cstdlib>
#include <thread>

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

namespace baton::test {
namespace {

// Before anybody asks for the options.
const int kShortPatience = ::setenv("BATON_WAIT_TIMEOUT", "200ms", 1);

constexpr Kernel kSlow = {"slow", deadline_test_slow, nullptr, BATON_CORE_VECTOR, 0};

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

}  // namespace
}  // namespace baton::test
