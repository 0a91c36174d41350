#include "chip/cores/sim/known_extents.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace baton::chip {
namespace {

Extent extent(const std::byte* begin, std::size_t bytes) { return {reinterpret_cast<std::uintptr_t>(begin), bytes}; }

TEST(Extent, HoldsWhatLiesInsideWhole) {
  const std::byte bytes[64] = {};
  const Extent middle = extent(bytes + 16, 32);
  EXPECT_TRUE(middle.holds(bytes + 16, 32));
  EXPECT_TRUE(middle.holds(bytes + 47, 1));
  EXPECT_TRUE(middle.holds(bytes + 48, 0));
  EXPECT_FALSE(middle.holds(bytes + 15, 1));
  EXPECT_FALSE(middle.holds(bytes + 15, 2));
  EXPECT_FALSE(middle.holds(bytes + 47, 2));
  EXPECT_FALSE(middle.holds(bytes + 16, 33));
  EXPECT_FALSE(middle.holds(bytes + 48, 1));
  EXPECT_FALSE(middle.holds(bytes + 20, SIZE_MAX));
}

TEST(KnownExtents, HoldWhatWasAddedUntilCleared) {
  const std::byte bytes[64] = {};
  KnownExtents known;
  EXPECT_FALSE(known.hold(bytes, 1));
  known.add(extent(bytes, 16));
  known.add(extent(bytes + 32, 16));
  EXPECT_TRUE(known.hold(bytes + 8, 8));
  EXPECT_TRUE(known.hold(bytes + 32, 16));
  EXPECT_FALSE(known.hold(bytes + 8, 32)) << "it lies in two extents and between them";
  known.clear();
  EXPECT_FALSE(known.hold(bytes + 8, 8));
}

TEST(KnownExtents, ForgetTheOldestOfMany) {
  const std::vector<std::byte> bytes(1000);
  KnownExtents known;
  for (std::size_t i = 0; i < 100; ++i) {
    known.add(extent(bytes.data() + 10 * i, 10));
    EXPECT_TRUE(known.hold(bytes.data() + 10 * i, 10));
    EXPECT_TRUE(i == 0 || known.hold(bytes.data() + 10 * i - 5, 5));
  }
  EXPECT_FALSE(known.hold(bytes.data(), 10));
}

}  // namespace
}  // namespace baton::chip
