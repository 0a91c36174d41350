// Tiles over the bytes of other tiles: what one wrote, another reads elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;
using ::testing::HasSubstr;

template <typename Element>
class Stored : public ::testing::Test {};
using StoredElements = ::testing::Types<float, half, bfloat16_t, int8_t, uint8_t, int32_t>;
TYPED_TEST_SUITE(Stored, StoredElements);

/// The byte of element (r, c), as the instruction set describes it.
template <typename TileData>
std::size_t byte_of(int r, int c) {
  constexpr int ir = TileData::InnerRows, ic = TileData::InnerCols, s = sizeof(typename TileData::DType);
  constexpr int Rows = TileData::Rows, Cols = TileData::Cols;
  const bool row_major = TileData::BFractal == BLayout::RowMajor;
  if (!TileData::isBoxedLayout) return static_cast<std::size_t>(s * (row_major ? r * Cols + c : c * Rows + r));
  const int box = row_major ? (r / ir) * (Cols / ic) + c / ic : (c / ic) * (Rows / ir) + r / ir;
  const int inside = TileData::SFractal == SLayout::RowMajor ? (r % ir) * ic + c % ic : (c % ic) * ir + r % ir;
  return static_cast<std::size_t>(s * (box * ir * ic + inside));
}

template <typename Element, int Rows, int Cols, BLayout blocks, SLayout boxes, int fractal>
void expect_order() {
  using Mat = Tile<TileType::Mat, Element, Rows, Cols, blocks, DYNAMIC, DYNAMIC, boxes, fractal>;
  const TestCore core;
  for (const auto& [rows, cols] : {std::pair{Rows, Cols}, {1, 1}, {Rows - 3, Cols - 5}, {3, Cols}, {Rows, 3}}) {
    Mat mat(rows, cols);
    TASSIGN(mat, 512);
    const auto touched = baton::kernel::TileView(mat).footprint();
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const auto at =
            reinterpret_cast<unsigned char*>(&element(mat, r, c)) - reinterpret_cast<unsigned char*>(mat.data());
        ASSERT_EQ(static_cast<std::size_t>(at), byte_of<Mat>(r, c)) << r << ", " << c;
        const auto in_run = at % touched.pitch_bytes;
        ASSERT_LT(at / touched.pitch_bytes, touched.runs) << r << ", " << c;
        ASSERT_LE(in_run + static_cast<std::ptrdiff_t>(sizeof(Element)), touched.run_bytes) << r << ", " << c;
      }
    }
  }
}

TYPED_TEST(Stored, InTheOrderOfTheirBoxes) {
  expect_order<TypeParam, 64, 96, BLayout::ColMajor, SLayout::RowMajor, 512>();
  expect_order<TypeParam, 64, 96, BLayout::RowMajor, SLayout::ColMajor, 512>();
  expect_order<TypeParam, 64, 96, BLayout::RowMajor, SLayout::RowMajor, 512>();
  expect_order<TypeParam, 64, 96, BLayout::ColMajor, SLayout::ColMajor, 512>();
  expect_order<TypeParam, 32, 64, BLayout::ColMajor, SLayout::RowMajor, 1024>();
  expect_order<TypeParam, 64, 32, BLayout::RowMajor, SLayout::NoneBox, 512>();
  expect_order<TypeParam, 64, 32, BLayout::ColMajor, SLayout::NoneBox, 512>();
}

template <typename Element, int Rows, int Cols>
using Nz = Tile<TileType::Mat, Element, Rows, Cols, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>;
template <typename Element, int Rows, int Cols>
using Zn = Tile<TileType::Mat, Element, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::ColMajor, 512>;

TYPED_TEST(Stored, ATwinInTheOtherBoxesIsTheTranspose) {
  constexpr int kRows = 32, kCols = 64;
  const TestCore core;
  Values values(1);
  std::vector<TypeParam> memory(kRows * kCols);
  for (auto& value : memory) value = values.next<TypeParam>();
  GlobalTensor<TypeParam, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>> source(memory.data());
  Nz<TypeParam, kRows, kCols> mat(kRows, kCols);
  Zn<TypeParam, kCols, kRows> twin(kCols, kRows);
  TASSIGN(mat, 0x400);
  TASSIGN(twin, 0x400);
  TLOAD(mat, source);
  TileRight<TypeParam, kCols, kRows> right;
  TileLeft<TypeParam, kCols, kRows> left;
  TASSIGN(right, 0);
  TASSIGN(left, 0);
  TMOV(right, twin);
  TMOV(left, twin);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      const TypeParam wanted = memory[static_cast<std::size_t>(r * kCols + c)];
      ASSERT_TRUE(same_bits(element(twin, c, r), wanted)) << r << ", " << c;
      ASSERT_TRUE(same_bits(element(right, c, r), wanted)) << r << ", " << c;
      ASSERT_TRUE(same_bits(element(left, c, r), wanted)) << r << ", " << c;
    }
  }
}

template <typename Dst, typename Src>
void expect_extracted(Dst dst, Src src, int row0, int col0) {
  using Element = typename Src::DType;
  const TestCore core;
  TASSIGN(dst, 0);
  TASSIGN(src, 0x200);
  Values values(9);
  const auto x = values.matrix<Element>(Src::Rows, Src::Cols);
  for (int r = 0; r < Src::Rows; ++r) {
    for (int c = 0; c < Src::Cols; ++c)
      element(src, r, c) = x[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
  }
  TEXTRACT(dst, src, static_cast<uint16_t>(row0), static_cast<uint16_t>(col0));
  for (int r = 0; r < dst.GetValidRow(); ++r) {
    for (int c = 0; c < dst.GetValidCol(); ++c) {
      ASSERT_TRUE(
          same_bits(element(dst, r, c), x[static_cast<std::size_t>(row0 + r)][static_cast<std::size_t>(col0 + c)]))
          << r << ", " << c << " from " << row0 << ", " << col0;
    }
  }
}

TYPED_TEST(Stored, PartsOfEveryLayoutIntoEveryOther) {
  using Left = TileLeft<TypeParam, 64, 64, DYNAMIC, DYNAMIC>;
  using OtherLeft =
      Tile<TileType::Left, TypeParam, 64, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>;
  using Right = TileRight<TypeParam, 64, 64, DYNAMIC, DYNAMIC>;
  const auto all = [](auto src) {
    for (const auto& [row, col] : {std::pair{0, 0}, {32, 32}, {16, 8}, {5, 3}}) {
      for (const auto& [rows, cols] : {std::pair{64, 64}, {32, 32}, {1, 1}, {47, 33}}) {
        expect_extracted(Left(rows, cols), src, row, col);
        expect_extracted(OtherLeft(rows, cols), src, row, col);
        expect_extracted(Right(rows, cols), src, row, col);
      }
    }
  };
  all(Nz<TypeParam, 96, 96>(96, 96));
  all(Zn<TypeParam, 96, 96>(96, 96));
}

TYPED_TEST(Stored, ColumnsIntoBoxesByColumns) {
  constexpr int kRows = 64, kCols = 48, kLd = 80;
  const TestCore core;
  Values values(2);
  std::vector<TypeParam> memory(kLd * kCols);
  for (auto& value : memory) value = values.next<TypeParam>();
  using Columns = GlobalTensor<TypeParam, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 1, kLd>, Layout::DN>;
  for (const auto& [rows, cols] : {std::pair{kRows, kCols}, {1, 1}, {33, 7}}) {
    Zn<TypeParam, kRows, kCols> mat(rows, cols);
    TASSIGN(mat, 0);
    Columns source(memory.data(), {rows, cols});
    TLOAD(mat, source);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        ASSERT_TRUE(same_bits(element(mat, r, c), memory[static_cast<std::size_t>(c * kLd + r)])) << r << ", " << c;
      }
    }
  }
}

TEST(Slices, OfAnAccumulator) {
  const TestCore core;
  using Whole = TileAcc<float, 32, 512>;
  using Rows16 = TileAcc<float, 32, 512, 16, 512>;
  Whole whole;
  Rows16 lower;
  TileLeft<half, 16, 32> left;
  TileRight<half, 32, 512> right;
  TASSIGN(whole, 0x2000);
  TASSIGN(lower, 0x2000 + 1024);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  for (int r = 0; r < 32; ++r) {
    for (int c = 0; c < 512; ++c) element(whole, r, c) = -1.0f;
  }
  for (int r = 0; r < 16; ++r) {
    for (int k = 0; k < 32; ++k) element(left, r, k) = half(static_cast<float>(r == k ? r : 0));
  }
  for (int k = 0; k < 32; ++k) {
    for (int c = 0; c < 512; ++c) element(right, k, c) = half(static_cast<float>(c % 16));
  }
  TMATMUL(lower, left, right);
  for (int r = 0; r < 32; ++r) {
    for (int c = 0; c < 512; ++c) {
      ASSERT_EQ(element(whole, r, c), r < 16 ? -1.0f : static_cast<float>((r - 16) * (c % 16))) << r << ", " << c;
    }
  }
  TMATMUL_ACC(lower, lower, left, right);
  EXPECT_EQ(element(whole, 18, 3), 12.0f);
  EXPECT_EQ(element(whole, 15, 3), -1.0f);
}

TEST(Slices, OfColumnsOfAVecTile) {
  const TestCore core;
  using Part = VecTile<float, 8, 512>;
  std::vector<float> memory(8 * 512);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  using Columns = GlobalTensor<float, Shape<1, 1, 1, 8, 128>, Stride<1, 1, 1, 512, 1>>;
  // The last ones reach over their parent's end; the last byte that they touch is the buffer's.
  const int base = 192 * 1024 - 8 * 512 * 4;
  Tile<TileType::Vec, float, 8, 512> whole;
  TASSIGN(whole, base);
  for (int j : {3, 0, 2, 1}) {
    Part part(8, 128);
    TASSIGN(part, base + 512 * j);
    Columns source(memory.data() + 128 * j);
    TLOAD(part, source);
    TADDS(part, part, 0.5f);
  }
  for (int r = 0; r < 8; ++r) {
    for (int c = 0; c < 512; ++c) ASSERT_EQ(element(whole, r, c), static_cast<float>(r * 512 + c) + 0.5f);
  }
  // Side by side they share no byte.
  Part scratch(8, 128), source(8, 128);
  Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor> sums;
  TASSIGN(source, base);
  TASSIGN(scratch, base + 512);
  TASSIGN(sums, 0);
  TROWMAX(sums, source, scratch);
  EXPECT_EQ(element(sums, 2, 0), 2 * 512 + 127.5f);
  EXPECT_EQ(element(whole, 1, 256), 512 + 256.5f) << "tmp is clobbered where it is valid, nowhere else";
  TASSIGN(scratch, base + 512 - 32);
  EXPECT_THROW(TROWMAX(sums, source, scratch), KernelFailure);
}

TEST(Slices, EndWithTheBuffer) {
  const TestCore core;
  VecTile<float, 8, 512> part(8, 128);
  TASSIGN(part, 192 * 1024 - 8 * 512 * 4 + 512 * 3);
  TEXPANDS(part, 1.0f);
  part.SetValidShape(8, 136);
  try {
    TEXPANDS(part, 1.0f);
    FAIL();
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.code, BATON_KERNEL_OUT_OF_RANGE);
    EXPECT_THAT(failure.what(), HasSubstr("dst reaches over"));
  }
  EXPECT_THROW(TASSIGN(part, 192 * 1024), KernelFailure);
}

TEST(Slices, AColumnIsARow) {
  const TestCore core;
  Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor> column;
  Tile<TileType::Vec, float, 1, 64> row, again;
  TASSIGN(column, 0x100);
  TASSIGN(row, 0x100);
  for (int i = 0; i < 64; ++i) element(row, 0, i) = static_cast<float>(i);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(element(column, i, 0), static_cast<float>(i));
  TRESHAPE(again, column);
  EXPECT_EQ(again.GetValue(63), 63.0f);
  EXPECT_THROW(static_cast<void>(again.GetValue(64)), KernelFailure);
}

TEST(Slices, ProductsTakeTheirSizeFromTheFactors) {
  const TestCore core;
  TileLeft<half, 16, 32, DYNAMIC, DYNAMIC> left(8, 16);
  TileRight<half, 32, 32, DYNAMIC, DYNAMIC> right(32, 24);
  TileAcc<float, 16, 32> acc;
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  for (int i = 0; i < 16 * 32; ++i) acc.data()[i] = NAN;
  write_valid(left, Matrix<half>(8, std::vector<half>(16, half(1.0f))));
  write_valid(right, Matrix<half>(32, std::vector<half>(24, half(2.0f))));
  TMATMUL(acc, left, right);
  for (int r = 0; r < 8; ++r) {
    for (int c = 0; c < 24; ++c) ASSERT_EQ(element(acc, r, c), 32.0f);
  }
  // Kernels store all of it, undefined elements and all.
  std::vector<float> out(16 * 32);
  GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 32, 1>> target(out.data());
  TSTORE(target, acc);
  EXPECT_EQ(out[7 * 32 + 23], 32.0f);
}

TEST(EmptyTiles, MoveNothing) {
  TestCore core;
  core.watch();
  VecTile<float, 8, 16> none(0, 0), some(8, 16), no_cols(8, 0);
  TASSIGN(none, 0);
  TASSIGN(some, 0);
  TASSIGN(no_cols, 0);
  Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, DYNAMIC, 1> sums(0), eight(8);
  VecTile<float, 8, 16> tmp(8, 16);
  VecTile<half, 8, 16> halves(0, 0);
  TASSIGN(sums, 0x400);
  TASSIGN(eight, 0x400);
  TASSIGN(tmp, 0x800);
  TASSIGN(halves, 0);
  for (int i = 0; i < 128; ++i) some.data()[i] = 7.0f;
  eight.data()[0] = 7.0f;
  TADD(none, none, none);
  TADDS(none, none, 1.0f);
  TEXP(none, none);
  TEXPANDS(none, 0.0f);
  TCVT(halves, none, RoundMode::CAST_RINT);
  TMOV(none, none);
  TEXTRACT(none, some, 3, 3);
  TROWSUM(sums, none, tmp);
  TROWSUM(eight, no_cols, tmp);
  TCOLSUM(none, none);
  TROWEXPANDMUL(none, none, sums);
  none.SetValidShape(1, 0);
  TEXPANDS(none, 0.0f);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(some.data()[i], 7.0f);
  EXPECT_EQ(eight.data()[0], 7.0f);
  std::vector<float> memory(128);
  GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 16, 1>> tensor(memory.data(), {0, 0});
  EXPECT_THROW(TLOAD(none, tensor), KernelFailure);
  EXPECT_THROW(TSTORE(tensor, none), KernelFailure);
  TileLeft<half, 16, 16, DYNAMIC, DYNAMIC> left(0, 16);
  TileRight<half, 16, 16> right;
  TileAcc<float, 16, 16> acc;
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  EXPECT_THROW(TMATMUL(acc, left, right), KernelFailure);
}

}  // namespace
