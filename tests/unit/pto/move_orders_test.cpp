// TMOV and TEXTRACT between tiles of every order, from every place, of many sizes: each element is where it belongs,
// and no byte beyond the destination's type changes.
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include <cstring>
#include <vector>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

constexpr int kRows = 64;
constexpr int kCols = 96;

template <TileType loc, typename Element, BLayout blocks, SLayout boxes, int fractal = 512>
using Whole = Tile<loc, Element, kRows, kCols, blocks, DYNAMIC, DYNAMIC, boxes, fractal>;
template <TileType loc, typename Element>
using BoxedByRows = Whole<loc, Element, BLayout::ColMajor, SLayout::RowMajor>;
template <TileType loc, typename Element>
using BoxedByCols = Whole<loc, Element, BLayout::RowMajor, SLayout::ColMajor>;
template <TileType loc, typename Element>
using BoxedRowsInRows = Whole<loc, Element, BLayout::RowMajor, SLayout::RowMajor>;
template <TileType loc, typename Element, BLayout blocks = BLayout::RowMajor>
using Flat = Whole<loc, Element, blocks, SLayout::NoneBox>;
template <typename Element>
using Sums = Whole<TileType::Acc, Element, BLayout::ColMajor, SLayout::RowMajor, 1024>;

template <typename SrcTile, typename DstTile>
struct Pair {
  using Src = SrcTile;
  using Dst = DstTile;
};

template <typename Pairs>
class Orders : public ::testing::Test {};

template <typename E>
using MatNzToLeft = Pair<BoxedByRows<TileType::Mat, E>, BoxedByRows<TileType::Left, E>>;
template <typename E>
using MatNzToChipLeft = Pair<BoxedByRows<TileType::Mat, E>, BoxedRowsInRows<TileType::Left, E>>;
template <typename E>
using MatNzToRight = Pair<BoxedByRows<TileType::Mat, E>, BoxedByCols<TileType::Right, E>>;
template <typename E>
using MatZnToRight = Pair<BoxedByCols<TileType::Mat, E>, BoxedByCols<TileType::Right, E>>;
template <typename E>
using MatZnToLeft = Pair<BoxedByCols<TileType::Mat, E>, BoxedByRows<TileType::Left, E>>;
template <typename E>
using FlatMatToLeft = Pair<Flat<TileType::Mat, E>, BoxedByRows<TileType::Left, E>>;
template <typename E>
using FlatMatToRight = Pair<Flat<TileType::Mat, E, BLayout::ColMajor>, BoxedByCols<TileType::Right, E>>;
template <typename E>
using RowsToRows = Pair<Flat<TileType::Vec, E>, Flat<TileType::Vec, E>>;
template <typename E>
using ColsToCols = Pair<Flat<TileType::Vec, E, BLayout::ColMajor>, Flat<TileType::Vec, E, BLayout::ColMajor>>;
template <typename E>
using RowsToCols = Pair<Flat<TileType::Vec, E>, Flat<TileType::Vec, E, BLayout::ColMajor>>;

using AllPairs = ::testing::Types<
    MatNzToLeft<half>, MatNzToLeft<float>, MatNzToLeft<int8_t>, MatNzToChipLeft<half>, MatNzToRight<half>,
    MatNzToRight<float>, MatNzToRight<int8_t>, MatNzToRight<int64_t>, MatZnToRight<bfloat16_t>, MatZnToRight<int8_t>,
    MatZnToLeft<half>, MatZnToLeft<float>, MatZnToLeft<int8_t>, FlatMatToLeft<half>, FlatMatToLeft<float>,
    FlatMatToRight<half>, RowsToRows<float>, RowsToRows<int8_t>, RowsToRows<int64_t>, ColsToCols<half>,
    RowsToCols<float>, RowsToCols<half>, Pair<Sums<float>, BoxedByRows<TileType::Mat, half>>,
    Pair<Sums<float>, BoxedByRows<TileType::Mat, bfloat16_t>>, Pair<Sums<float>, BoxedByRows<TileType::Mat, float>>,
    Pair<Sums<float>, BoxedByCols<TileType::Mat, half>>, Pair<Sums<float>, Flat<TileType::Vec, float>>,
    Pair<Sums<float>, Flat<TileType::Vec, half>>, Pair<Sums<float>, Flat<TileType::Vec, half, BLayout::ColMajor>>,
    Pair<Sums<int32_t>, Flat<TileType::Vec, int32_t>>, Pair<Sums<int32_t>, Flat<TileType::Vec, float>>>;
TYPED_TEST_SUITE(Orders, AllPairs);

struct Part {
  int row;
  int col;
  int rows;
  int cols;
};

constexpr Part kParts[] = {{0, 0, kRows, kCols}, {0, 0, 1, 1},    {16, 32, 32, 32}, {5, 7, 17, 33},
                           {15, 31, 2, 2},       {0, 16, 48, 80}, {32, 0, 32, 96},  {63, 95, 1, 1},
                           {1, 0, 31, 64},       {0, 1, 64, 95},  {8, 8, 40, 24},   {0, 0, 0, 0}};

TYPED_TEST(Orders, EachElementIsWhereItBelongs) {
  using Src = typename TypeParam::Src;
  using Dst = typename TypeParam::Dst;
  using To = typename Dst::DType;
  const CoreBytes large{512 * 1024, 512 * 1024, 512 * 1024, 512 * 1024, 512 * 1024, 1024};
  const TestCore core(nullptr, large);
  constexpr int kBytes = kRows * kCols * static_cast<int>(sizeof(To));
  constexpr int kMargin = 256;
  Src src(kRows, kCols);
  TASSIGN(src, 0);
  Values values(17);
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      element(src, row, col) = values.next_moderate<typename Src::DType>();
    }
  }
  for (const Part& part : kParts) {
    SCOPED_TRACE(::testing::Message() << part.rows << " x " << part.cols << " at " << part.row << ", " << part.col);
    Dst dst(part.rows, part.cols);
    TASSIGN(dst, 128 * 1024);
    auto* const bytes = reinterpret_cast<unsigned char*>(dst.data());
    std::memset(bytes - kMargin, 0x5a, kBytes + 2 * kMargin);
    TEXTRACT(dst, src, static_cast<std::uint16_t>(part.row), static_cast<std::uint16_t>(part.col));
    for (int row = 0; row < part.rows; ++row) {
      for (int col = 0; col < part.cols; ++col) {
        const To expected = static_cast<To>(element(src, part.row + row, part.col + col));
        ASSERT_TRUE(same_value(element(dst, row, col), expected)) << row << ", " << col;
      }
    }
    for (int i = 0; i < kMargin; ++i) {
      ASSERT_EQ(bytes[-1 - i], 0x5a);
      ASSERT_EQ(bytes[kBytes + i], 0x5a);
    }
  }
}

// Columns of pairs that overlap: what is moved is what was there before.
TEST(Overlap, MovesWhatWasThere) {
  const TestCore core;
  Tile<TileType::Vec, float, 8, 16> whole;
  Tile<TileType::Vec, float, 8, 16> later;
  TASSIGN(whole, 0);
  TASSIGN(later, 32);
  std::vector<float> before(8 * 16);
  for (std::size_t i = 0; i < before.size(); ++i) whole.data()[i] = before[i] = static_cast<float>(i);
  TMOV(later, whole);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(later.data()[i], before[i]);
}

}  // namespace
