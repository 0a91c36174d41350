// Tiles whose sizes their types say, against the same tiles whose types do not: lanes carry them out in another way.
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "expect_refused.hpp"
#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;
using baton::kernel::kManyLanes;

template <typename Element, int Rows, int Cols, int ValidRows = Rows, int ValidCols = Cols>
using Sized = Tile<TileType::Vec, Element, Rows, Cols, BLayout::RowMajor, ValidRows, ValidCols>;
template <typename Element, int Rows, int Cols>
using Open = Tile<TileType::Vec, Element, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
template <typename Element, int Cols>
using Line = Tile<TileType::Vec, Element, 1, Cols, BLayout::RowMajor, 1, DYNAMIC>;
template <typename Element, int Rows, int ValidRows = Rows>
using Column = Tile<TileType::Vec, Element, Rows, 1, BLayout::ColMajor, ValidRows, 1>;

constexpr int kOperand = 0x8000;  // bytes for each

/// Calls instruction(dst, a, b, column, scratch) with tiles of `Element` that are `TileData`.
template <typename TileData, int Rows, int Cols, typename Instruction, typename Make>
auto result_of(const Instruction& instruction, const Make& make) {
  using Element = typename TileData::DType;
  const TestCore core;
  TileData a = make();
  TileData b = make();
  TileData dst = make();
  Column<Element, 16, Rows> column;
  Sized<Element, 1, 32> scratch;
  TASSIGN(a, 0);
  TASSIGN(b, kOperand);
  TASSIGN(dst, 2 * kOperand);
  TASSIGN(column, 3 * kOperand);
  TASSIGN(scratch, 4 * kOperand);
  Values values(7);
  write_valid(a, values.matrix<Element>(Rows, Cols));
  write_valid(b, values.matrix<Element>(Rows, Cols));
  write_valid(column, values.matrix<Element>(Rows, 1));
  for (int row = 0; row < Rows; ++row) {
    for (int col = 0; col < Cols; ++col) element(dst, row, col) = Element{};
  }
  instruction(dst, a, b, column, scratch);
  return std::pair(read_valid(dst), read_valid(column));
}

template <typename Element, int Rows, int Cols, int ValidRows, int ValidCols, typename Instruction>
void expect_same(const Instruction& instruction) {
  const auto sized = result_of<Sized<Element, Rows, Cols, ValidRows, ValidCols>, ValidRows, ValidCols>(
      instruction, [] { return Sized<Element, Rows, Cols, ValidRows, ValidCols>(); });
  const auto open = result_of<Open<Element, Rows, Cols>, ValidRows, ValidCols>(
      instruction, [] { return Open<Element, Rows, Cols>(ValidRows, ValidCols); });
  EXPECT_TRUE(equal_values(sized.first, open.first));
  EXPECT_TRUE(equal_values(sized.second, open.second));
}

template <typename Element, typename Instruction>
void expect_same_for_all_sizes(const Instruction& instruction) {
  expect_same<Element, 8, 64, 8, 64>(instruction);
  expect_same<Element, 8, 64, 5, 32>(instruction);
  expect_same<Element, 16, 512, 13, 512>(instruction);
  expect_same<Element, 1, 16, 1, 16>(instruction);
}

template <typename Element>
class WholePieces : public ::testing::Test {};
using Numbers = ::testing::Types<half, float, int16_t, int32_t>;
TYPED_TEST_SUITE(WholePieces, Numbers);

TYPED_TEST(WholePieces, AreCombined) {
  using E = TypeParam;
  expect_same_for_all_sizes<E>([](auto& dst, auto& a, auto& b, auto&, auto&) { TADD(dst, a, b); });
  expect_same_for_all_sizes<E>([](auto& dst, auto& a, auto& b, auto&, auto&) { TMUL(dst, a, b); });
  expect_same_for_all_sizes<E>([](auto&, auto& a, auto& b, auto&, auto&) { TSUB(a, a, b); });
  expect_same_for_all_sizes<E>([](auto& dst, auto& a, auto&, auto&, auto&) { TMULS(dst, a, 3); });
  expect_same_for_all_sizes<E>([](auto& dst, auto& a, auto&, auto&, auto&) { TNEG(dst, a); });
}

TYPED_TEST(WholePieces, AreCombinedWithColumns) {
  using E = TypeParam;
  expect_same_for_all_sizes<E>([](auto& dst, auto& a, auto&, auto& column, auto&) { TROWEXPANDSUB(dst, a, column); });
  expect_same_for_all_sizes<E>([](auto&, auto& a, auto&, auto& column, auto&) { TROWEXPANDMUL(a, a, column); });
  if constexpr (!std::is_integral_v<E>) {
    expect_same_for_all_sizes<E>([](auto& dst, auto& a, auto&, auto& column, auto&) { TROWEXPANDDIV(dst, a, column); });
  }
}

TYPED_TEST(WholePieces, AreReduced) {
  using E = TypeParam;
  expect_same_for_all_sizes<E>([](auto&, auto& a, auto&, auto& column, auto& tmp) { TROWSUM(column, a, tmp); });
  expect_same_for_all_sizes<E>([](auto&, auto& a, auto&, auto& column, auto& tmp) { TROWMAX(column, a, tmp); });
  expect_same_for_all_sizes<E>([](auto&, auto& a, auto&, auto& column, auto& tmp) { TROWMIN(column, a, tmp); });
}

template <typename Element, int Count, typename Instruction>
void expect_same_line(const Instruction& instruction) {
  const auto line = result_of<Line<Element, 256>, 1, Count>(instruction, [] { return Line<Element, 256>(Count); });
  const auto open =
      result_of<Open<Element, 1, 256>, 1, Count>(instruction, [] { return Open<Element, 1, 256>(1, Count); });
  EXPECT_TRUE(equal_values(line.first, open.first)) << Count;
}

TYPED_TEST(WholePieces, OfLines) {
  using E = TypeParam;
  const auto expect_same_lines = [](const auto& instruction) {
    expect_same_line<E, 208>(instruction);
    expect_same_line<E, 255>(instruction);  // the last piece is not whole
    expect_same_line<E, 2>(instruction);
    expect_same<E, 1, 64, 1, 37>(instruction);
  };
  expect_same_lines([](auto& dst, auto& a, auto& b, auto&, auto&) { TADD(dst, a, b); });
  expect_same_lines([](auto& dst, auto& a, auto&, auto&, auto&) { TMULS(dst, a, 3); });
  expect_same_lines([](auto& dst, auto& a, auto&, auto&, auto&) { TNEG(dst, a); });
}

// Of the way that lanes go: elsewhere a wrong number would have to say so.
TEST(WholePieces, AreThoseThatLieInOrder) {
  using baton::kernel::AddNumbers;
  using baton::kernel::combine_whole;
  const TestCore core;
  Sized<float, 8, 64> a;
  Sized<float, 8, 64> b;
  EXPECT_FALSE(combine_whole(AddNumbers{}, a, a, b)) << "no place";
  TASSIGN(a, 0);
  EXPECT_FALSE(combine_whole(AddNumbers{}, a, a, b)) << "one has no place";
  TASSIGN(b, 0x8000);
  EXPECT_EQ(combine_whole(AddNumbers{}, a, a, b), kManyLanes);
  b.set_data(b.data() + 1, b.room_bytes());
  EXPECT_FALSE(combine_whole(AddNumbers{}, a, a, b)) << "not aligned";
  b.set_data(b.data() - 1, 8 * 64 * 4 - 1);
  EXPECT_FALSE(combine_whole(AddNumbers{}, a, a, b)) << "beyond the buffer";
  Line<float, 64> x(64);
  Line<float, 64> y(60);
  TASSIGN(x, 0);
  TASSIGN(y, 0x8000);
  EXPECT_FALSE(combine_whole(AddNumbers{}, x, x, y)) << "sizes differ";
  y.SetValidCol(64);
  EXPECT_EQ(combine_whole(AddNumbers{}, x, x, y), kManyLanes);
  x.SetValidCol(63);
  y.SetValidCol(63);
  EXPECT_EQ(combine_whole(AddNumbers{}, x, x, y), kManyLanes) << "the last piece is not whole";
}

TEST(WholePieces, SayWhatIsWrongAsOthersDo) {
  const TestCore core;
  Sized<float, 8, 64> a;
  Sized<float, 8, 64> b;
  TASSIGN(a, 0);
  EXPECT_REFUSED(TADD(a, a, b), BATON_KERNEL_INVALID_ARGUMENT, "src1 has no place in the Vec buffer");
  TASSIGN(b, 0x8000);
  Column<float, 8> column;
  Sized<float, 1, 8> tmp;
  TASSIGN(column, 0x4000);
  TASSIGN(tmp, 0x4000);
  EXPECT_REFUSED(TROWSUM(column, a, tmp), BATON_KERNEL_INVALID_ARGUMENT, "tmp and dst overlap");
}

// What overlaps what it is made of goes row by row.
TEST(WholePieces, AColumnMayLieOnItsRows) {
  const TestCore core;
  Sized<float, 8, 64> a;
  Column<float, 8> column;
  Sized<float, 1, 8> tmp;
  TASSIGN(a, 0);
  TASSIGN(column, 0);
  TASSIGN(tmp, 0x8000);
  for (int row = 0; row < 8; ++row) {
    for (int col = 0; col < 64; ++col) element(a, row, col) = static_cast<float>(row + 1);
  }
  // Row 0 is overwritten by the sums of the rows, of which each is written when the row has been read.
  TROWSUM(column, a, tmp);
  for (int row = 0; row < 8; ++row) EXPECT_EQ(element(column, row, 0), 64.0F * static_cast<float>(row + 1)) << row;
}

}  // namespace
