// Nobody rings a chip that has left.
#include "node/chip_bell.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace baton::node {
namespace {

TEST(ChipBell, RingsWhileAChipListens) {
  ChipBell bell;
  int rings = 0;
  bell.ring();
  {
    const ChipBell::Listening listening(bell, [&] { ++rings; });
    bell.ring();
    bell.ring();
  }
  bell.ring();
  EXPECT_EQ(rings, 2);
}

TEST(ChipBell, IsSilentAfterAChipThatFailed) {
  ChipBell bell;
  int rings = 0;
  EXPECT_THROW(
      {
        const ChipBell::Listening listening(bell, [&] { ++rings; });
        throw std::runtime_error("a task");
      },
      std::runtime_error);
  bell.ring();
  EXPECT_EQ(rings, 0);
}

TEST(ChipBell, AChipLeavesBehindThoseThatRing) {
  ChipBell bell;
  std::promise<void> rings;
  std::promise<void> left;
  std::atomic<bool> was_left_alone = false;
  std::optional<ChipBell::Listening> listening;
  listening.emplace(bell, [&] {
    rings.set_value();
    // Long enough for a chip that would not wait to be gone.
    was_left_alone = left.get_future().wait_for(std::chrono::milliseconds(100)) == std::future_status::ready;
  });
  std::thread ringing([&] { bell.ring(); });
  rings.get_future().wait();
  listening.reset();
  left.set_value();
  ringing.join();
  EXPECT_FALSE(was_left_alone) << "the chip's memory was gone while its bell was rung";
}

}  // namespace
}  // namespace baton::node
