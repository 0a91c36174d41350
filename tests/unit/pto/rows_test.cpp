// Rows that are moved and added up through tiles, against loops over elements.
#include <bit>
#include <random>

#include <gtest/gtest.h>
#include <moe/rows.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;

constexpr std::int64_t kWidths[] = {1, 31, 100, 4096, 5000};  // the last one passes through tiles in two pieces

template <typename Element>
std::vector<Element> some_rows(std::mt19937& random, std::int64_t count, std::int64_t width) {
  std::vector<Element> rows(static_cast<std::size_t>(count * width));
  for (Element& value : rows) {
    const int number = static_cast<int>(random() % 2001) - 1000;
    value = static_cast<Element>(number == 0 ? -0.0F : static_cast<float>(number) / 7);
  }
  return rows;
}

/// Two roundings for each row: a product, then a sum.
template <typename Element>
Element sum_of(const std::vector<Element>& rows, std::int64_t width, std::int64_t column,
               const std::vector<std::int32_t>& positions, const std::vector<float>& weights) {
  float sum = 0;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    if (positions[k] < 0) continue;
    volatile float product =
        static_cast<float>(rows[static_cast<std::size_t>(positions[k] * width + column)]) * weights[k];
    sum += product;
  }
  return static_cast<Element>(sum);
}

template <typename Element>
class WeightedSums : public ::testing::Test {};
using RowElements = ::testing::Types<float, half, bfloat16_t>;
TYPED_TEST_SUITE(WeightedSums, RowElements);

TYPED_TEST(WeightedSums, AreThoseOfALoopToTheBit) {
  std::mt19937 random(3);
  for (const std::int64_t width : kWidths) {
    const auto rows = some_rows<TypeParam>(random, 8, width);
    for (std::size_t count = 0; count <= 7; ++count) {
      std::vector<std::int32_t> positions(count);
      std::vector<float> weights(count);
      for (auto& position : positions) position = static_cast<std::int32_t>(random() % 9) - 1;
      for (auto& weight : weights) weight = static_cast<float>(random() % 1000) / 999;
      const TestCore core;
      std::vector<TypeParam> sums(static_cast<std::size_t>(width), TypeParam(99.0F));
      const auto row_of = [&](std::int64_t k) -> const TypeParam* {
        const std::int32_t position = positions[static_cast<std::size_t>(k)];
        return position < 0 ? nullptr : rows.data() + position * width;
      };
      baton::moe::weighted_sum(sums.data(), width, weights.data(), static_cast<std::int64_t>(count), row_of);
      for (std::int64_t column = 0; column < width; ++column) {
        ASSERT_TRUE(same_bits(sums[static_cast<std::size_t>(column)], sum_of(rows, width, column, positions, weights)))
            << "width " << width << ", " << count << " rows, column " << column;
      }
    }
  }
}

// A sum begins with zero, and zero and -0 are zero.
TYPED_TEST(WeightedSums, OfNegativeZerosAreZero) {
  const TestCore core;
  const std::vector<TypeParam> row(20, TypeParam(-0.0F));
  std::vector<TypeParam> sums(20, TypeParam(99.0F));
  const float weights[] = {1, 1};
  for (const std::int64_t count : {1, 2}) {
    baton::moe::weighted_sum(sums.data(), 20, weights, count, [&](std::int64_t) { return row.data(); });
    for (const TypeParam sum : sums) ASSERT_TRUE(same_bits(sum, TypeParam(0.0F)));
  }
}

TEST(CopyLineToEach, SkipsThoseThatHaveNoPlace) {
  std::mt19937 random(5);
  for (const std::int64_t width : {1, 100, 20'000}) {
    const auto from = some_rows<float>(random, 1, width);
    std::vector<float> to(static_cast<std::size_t>(4 * width), 99.0F);
    const TestCore core;
    baton::moe::copy_line_to_each(from.data(), width, 4,
                                  [&](std::int64_t i) { return i == 2 ? nullptr : to.data() + i * width; });
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto row = i / static_cast<std::size_t>(width);
      ASSERT_EQ(to[i], row == 2 ? 99.0F : from[i % static_cast<std::size_t>(width)]) << i << " of " << width;
    }
  }
}

}  // namespace
