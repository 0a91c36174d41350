// Moves and transposition.
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

template <typename Element>
class Moves : public ::testing::Test {};
using AllElements = ::testing::Types<float, half, bfloat16_t, int8_t, uint8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Moves, AllElements);

TYPED_TEST(Moves, Transpose) {
  const TestCore core;
  VecTile<TypeParam, 16, 32> src(9, 31);
  VecTile<TypeParam, 32, 32> tmp(32, 32), dst(1, 1);  // its valid size does not matter
  TASSIGN(src, 0);
  TASSIGN(tmp, 0x2000);
  TASSIGN(dst, 0x8000);
  Values values(5);
  const auto x = values.matrix<TypeParam>(9, 31);
  write_valid(src, x);
  TTRANS(dst, src, tmp);
  for (int r = 0; r < 9; ++r) {
    for (int c = 0; c < 31; ++c) {
      ASSERT_TRUE(same_bits(element(dst, c, r), x[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]));
    }
  }
}

TYPED_TEST(Moves, MatToLeftAndRight) {
  const TestCore core;
  using Mat = Tile<TileType::Mat, TypeParam, 32, 64, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>;
  Mat mat(20, 50);
  TileLeft<TypeParam, 32, 64, DYNAMIC, DYNAMIC> left(20, 50);
  Tile<TileType::Left, TypeParam, 32, 64, BLayout::RowMajor, 20, 50, SLayout::RowMajor, 512> other_left;
  TileRight<TypeParam, 32, 64, DYNAMIC, DYNAMIC> right(20, 50);
  TileRight<TypeParam, 32, 32, 5, 7> part;
  TASSIGN(mat, 0);
  TASSIGN(left, 0);
  TASSIGN(other_left, 0);
  TASSIGN(right, 0);
  TASSIGN(part, 0x8000);
  Values values(6);
  const auto x = values.matrix<TypeParam>(20, 50);
  write_valid(mat, x);
  TMOV(left, mat);
  TMOV(right, mat);
  EXPECT_TRUE(equal_values(read_valid(left), x));
  EXPECT_TRUE(equal_values(read_valid(right), x));
  TMOV(other_left, mat);
  EXPECT_TRUE(equal_values(read_valid(other_left), x));
  TEXTRACT(part, mat, 15, 43);
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 7; ++c) {
      ASSERT_TRUE(
          same_bits(element(part, r, c), x[static_cast<std::size_t>(15 + r)][static_cast<std::size_t>(43 + c)]));
    }
  }
  TEXTRACT(part, mat, 27, 57);  // beyond the valid region, within the tile
  EXPECT_THROW(TEXTRACT(part, mat, 28, 57), KernelFailure);
  EXPECT_THROW(TEXTRACT(part, mat, 0, 58), KernelFailure);
  TEXTRACT(part, mat);
  EXPECT_TRUE(same_bits(element(part, 0, 0), x[0][0]));
}

TEST(Move, AccToMatAndVecConverts) {
  TestCore core;
  core.watch();
  TileAcc<float, 16, 16> acc;
  Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512> mat;
  Tile<TileType::Vec, float, 16, 16> vec;
  TASSIGN(acc, 0);
  TASSIGN(mat, 0);
  TASSIGN(vec, 0);
  Values values(6);
  const auto x = values.moderate_matrix<float>(16, 16);
  write_valid(acc, x);
  TMOV(mat, acc);
  TMOV(vec, acc);
  EXPECT_TRUE(equal_values(read_valid(vec), x));
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(element(mat, i, 3).bits, half(x[static_cast<std::size_t>(i)][3]).bits);
  }
  EXPECT_EQ(core.issued()[0].pipes, 1u << PIPE_FIX);
  Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, 16, 16> copy;
  TASSIGN(copy, 0x1000);
  TMOV(copy, vec);
  EXPECT_TRUE(equal_values(read_valid(copy), x));
  EXPECT_EQ(core.issued()[2].pipes, 1u << PIPE_V);
}

}  // namespace
