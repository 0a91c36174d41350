// Padding: against plain loops over vectors.
#include <limits>
#include <utility>

#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "expect_refused.hpp"
#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

template <typename Element>
class Pad : public ::testing::Test {};
using Padded = ::testing::Types<float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(Pad, Padded);

template <PadValue pad, typename Element, int Rows, int Cols>
using PaddedTile =
    Tile<TileType::Vec, Element, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::NoneBox, 512, pad>;

template <PadValue pad, typename Element>
void expect_padded(Element value) {
  for (const auto& size : {std::pair{8, 32}, {5, 7}, {1, 1}, {0, 0}}) {
    const int rows = size.first;
    const int cols = size.second;
    for (const int way : {0, 1, 2}) {
      const TestCore core;
      VecTile<Element, 8, 32> src(rows, cols);
      PaddedTile<pad, Element, 8, 32> dst(rows == 0 ? 0 : 7, rows == 0 ? 0 : 20);
      PaddedTile<pad, Element, 16, 64> large(15, 50);
      VecTile<Element, 16, 64> whole(16, 64);
      TASSIGN(src, 0x2000);
      TASSIGN(dst, way == 1 ? 0x2000 : 0x8000);
      TASSIGN(large, 0x10000);
      TASSIGN(whole, way == 1 ? 0x2000 : way == 2 ? 0x10000 : 0x8000);
      Values values(3);
      const auto x = values.matrix<Element>(rows, cols);
      write_valid(src, x);
      if (way == 0) TFILLPAD(dst, src);
      if (way == 1) TFILLPAD_INPLACE(dst, src);
      if (way == 2) TFILLPAD_EXPAND(large, src);
      const auto check = [&](auto& tile) {
        for (int r = 0; r < tile.GetValidRow(); ++r) {
          for (int c = 0; c < tile.GetValidCol(); ++c) {
            const Element wanted = r < rows && c < cols ? x[at(r)][at(c)] : value;
            ASSERT_TRUE(same_bits(element(tile, r, c), wanted)) << r << ", " << c;
          }
        }
      };
      if (way == 2) {
        check(large);
      } else {
        check(dst);
        // Beyond dst's valid region nothing is filled.
        if (way == 0) {
          EXPECT_EQ(reinterpret_cast<unsigned char*>(&element(dst, 7, 20))[0], 0xee);
        }
      }
    }
  }
}

TYPED_TEST(Pad, WithEveryValue) {
  using E = TypeParam;
  expect_padded<PadValue::Zero, E>(E(0));
  if constexpr (std::is_integral_v<E>) {
    expect_padded<PadValue::Min, E>(std::numeric_limits<E>::min());
    expect_padded<PadValue::Max, E>(std::numeric_limits<E>::max());
  } else {
    expect_padded<PadValue::Min, E>(E(-INFINITY));
    expect_padded<PadValue::Max, E>(E(INFINITY));
  }
}

TEST(PadInPlace, LiesOnItsSource) {
  const TestCore core;
  VecTile<float, 8, 32> src(1, 1);
  PaddedTile<PadValue::Zero, float, 8, 32> dst(2, 2);
  TASSIGN(src, 0);
  TASSIGN(dst, 32);
  EXPECT_REFUSED(TFILLPAD_INPLACE(dst, src), BATON_KERNEL_INVALID_ARGUMENT, "different places");
}

}  // namespace
