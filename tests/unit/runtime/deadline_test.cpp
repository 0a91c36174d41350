// What happens when a notification never comes. A program of its own: it waits for less long than others.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "support/require.hpp"

namespace baton::test {
namespace {

// Before anybody asks for the options.
const int kShortPatience = ::setenv("BATON_WAIT_TIMEOUT", "200ms", 1);

TEST(Trap5Deferred, AWaitThatNobodyEndsFailsAtItsDeadlineAlsoOnAChipThatSlept) {
  ASSERT_EQ(kShortPatience, 0);
  Chip chip({.clusters = 4, .workers = 2});
  const Tensor signal = chip.alloc<std::int32_t>({1}, "signal");
  for (int round = 0; round < 3; ++round) {
    // All threads of the chip fall asleep.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    require_error(Code::wait_timeout, {"deferred 0.2 s", "counter >= 1 (has 0)", "signal+0", "deadline_test.cpp"}, [&] {
      chip.run([&](Graph& g) {
        static_cast<void>(g.submit_notification_wait(reinterpret_cast<const std::int32_t*>(signal.address()), 1));
      });
    });
  }
}

}  // namespace
}  // namespace baton::test
