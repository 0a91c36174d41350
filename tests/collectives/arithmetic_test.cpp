// Elements: every type, operation and number of sources, also onto one of the sources.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "collectives/arithmetic.hpp"

namespace baton::collectives {
namespace {

template <class T>
std::vector<T> reduced(const std::vector<std::vector<T>>& sources, Element element, ReduceOp op,
                       std::uint32_t divisor = 1, int onto = -1) {
  std::vector<std::vector<T>> copies = sources;
  std::vector<const std::byte*> from;
  for (const auto& copy : copies) from.push_back(reinterpret_cast<const std::byte*>(copy.data()));
  std::vector<T> result(sources[0].size());
  T* to = onto < 0 ? result.data() : copies[static_cast<std::size_t>(onto)].data();
  reduce_elements(reinterpret_cast<std::byte*>(to), from, result.size(), element, op, divisor);
  return onto < 0 ? result : copies[static_cast<std::size_t>(onto)];
}

TEST(Arithmetic, FoldsFromLeftToRightWhateverTheNumberOfSources) {
  std::mt19937 random(1);
  for (const std::size_t count : {1U, 15U, 1024U, 1025U, 3000U}) {
    for (std::size_t sources = 1; sources <= 9; ++sources) {
      std::vector<std::vector<float>> values(sources, std::vector<float>(count));
      for (auto& value : values) {
        for (float& element : value)
          element = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 30));
      }
      std::vector<float> expected = values[0];
      for (std::size_t s = 1; s < sources; ++s) {
        for (std::size_t i = 0; i < count; ++i) expected[i] += values[s][i];
      }
      EXPECT_EQ(reduced(values, Element::float32, ReduceOp::sum), expected);
      for (int onto = 0; onto < static_cast<int>(sources); ++onto)
        EXPECT_EQ(reduced(values, Element::float32, ReduceOp::sum, 1, onto), expected) << "onto " << onto;
    }
  }
}

TEST(Arithmetic, OfIntegersWraps) {
  const std::vector<std::vector<std::int8_t>> bytes = {{127, -128, 100}, {1, -1, 100}};
  EXPECT_EQ(reduced(bytes, Element::int8, ReduceOp::sum), (std::vector<std::int8_t>{-128, 127, -56}));
  EXPECT_EQ(reduced(bytes, Element::int8, ReduceOp::prod), (std::vector<std::int8_t>{127, -128, 16}));
  EXPECT_EQ(reduced(bytes, Element::int8, ReduceOp::avg, 200), (std::vector<std::int8_t>{0, 0, 0}));
  const std::vector<std::vector<std::uint16_t>> words = {{65535, 40000}, {65535, 2}};
  EXPECT_EQ(reduced(words, Element::uint16, ReduceOp::prod), (std::vector<std::uint16_t>{1, 14464}));
  const std::vector<std::vector<std::int64_t>> wide = {{std::numeric_limits<std::int64_t>::max(), -7}, {1, 0}};
  EXPECT_EQ(reduced(wide, Element::int64, ReduceOp::sum),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -7}));
  EXPECT_EQ(reduced(wide, Element::int64, ReduceOp::avg, 2)[1], -3);
  EXPECT_EQ(reduced(wide, Element::int64, ReduceOp::min), (std::vector<std::int64_t>{1, -7}));
}

TEST(Arithmetic, OfBits) {
  const std::vector<std::vector<std::int8_t>> bytes = {{0x0f, -1, 0x55}, {0x33, 0x70, 0x55}, {0x11, -128, 0x55}};
  EXPECT_EQ(reduced(bytes, Element::int8, ReduceOp::bit_and), (std::vector<std::int8_t>{0x01, 0x00, 0x55}));
  EXPECT_EQ(reduced(bytes, Element::int8, ReduceOp::bit_or), (std::vector<std::int8_t>{0x3f, -1, 0x55}));
  EXPECT_EQ(reduced(bytes, Element::int8, ReduceOp::bit_xor), (std::vector<std::int8_t>{0x2d, 0x0f, 0x55}));
  const std::vector<std::vector<std::uint64_t>> wide = {{~std::uint64_t{0}}, {std::uint64_t{1} << 63U}};
  EXPECT_EQ(reduced(wide, Element::uint64, ReduceOp::bit_and, 1, 1)[0], std::uint64_t{1} << 63U);
}

TEST(Arithmetic, OfNarrowFloatsRoundsToNearestEven) {
  using Bits = std::vector<std::uint16_t>;
  // 1 + 2^-11 lies between two halves, 1 + 3 * 2^-11 too: both go to the even one.
  EXPECT_EQ(reduced<std::uint16_t>({{0x3c00, 0x3c01}, {0x1000, 0x1000}}, Element::float16, ReduceOp::sum),
            (Bits{0x3c00, 0x3c02}));
  // Overflow, infinity, denormals, minus zero.
  EXPECT_EQ(reduced<std::uint16_t>({{0x7bff, 0x7c00, 0x0001, 0x8000}, {0x7bff, 0x3c00, 0x0001, 0x8000}},
                                   Element::float16, ReduceOp::sum),
            (Bits{0x7c00, 0x7c00, 0x0002, 0x8000}));
  const std::uint16_t nan = reduced<std::uint16_t>({{0x7e00}, {0x3c00}}, Element::float16, ReduceOp::sum)[0];
  EXPECT_GT(nan & 0x7fffU, 0x7c00U);
  // 1 + 2^-8 lies between two bfloat16.
  EXPECT_EQ(reduced<std::uint16_t>({{0x3f80, 0x3f81}, {0x3b80, 0x3b80}}, Element::bfloat16, ReduceOp::sum),
            (Bits{0x3f80, 0x3f82}));
  // Several sources are added before they are rounded: 1 + 2^-11 + 2^-11.
  EXPECT_EQ(reduced<std::uint16_t>({{0x3c00}, {0x1000}, {0x1000}}, Element::float16, ReduceOp::sum), (Bits{0x3c01}));
}

}  // namespace
}  // namespace baton::collectives
