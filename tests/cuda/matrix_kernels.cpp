// Products whose tiles are used in ways that a matrix unit has to notice: loaded again under a Left tile, parts of
// tiles, several accumulators, a bias, results that go on to other tiles.
#include <baton_kernel.hpp>

#ifndef ELEMENT
#define ELEMENT bfloat16_t
#endif

namespace {

using Element = ELEMENT;
constexpr int kSide = 64;
constexpr int64_t kBytes = int64_t{kSide} * kSide * 2;
constexpr int64_t kSumBytes = int64_t{kSide} * kSide * 4;

template <int kRows, int kCols>
using Mat =
    pto::Tile<pto::TileType::Mat, Element, kRows, kCols, pto::BLayout::ColMajor, kRows, kCols, pto::SLayout::RowMajor>;
template <typename Type, int kRows, int kCols>
using Matrix = pto::GlobalTensor<Type, pto::Shape<1, 1, 1, kRows, kCols>, pto::Stride<-1, -1, -1, -1, 1>>;
using Square = Mat<kSide, kSide>;
using Left = pto::TileLeft<Element, kSide, kSide>;
using Right = pto::TileRight<Element, kSide, kSide>;
using Sums = pto::TileAcc<float, kSide, kSide>;

template <typename TileData>
AICORE TileData tile_at(int64_t place) {
  TileData tile;
  TASSIGN(tile, place);
  return tile;
}

/// The part of a tensor that begins at (row, col).
template <typename TileData>
AICORE void load_at(TileData& tile, const Element* data, int64_t pitch, int64_t row, int64_t col) {
  Matrix<const Element, TileData::Rows, TileData::Cols> from(data + row * pitch + col, {}, {0, 0, 0, pitch});
  TLOAD(tile, from);
}

template <typename TileData>
AICORE void store_at(float* data, int64_t pitch, int64_t row, int64_t col, TileData& tile) {
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  Matrix<float, TileData::Rows, TileData::Cols> to(data + row * pitch + col, {}, {0, 0, 0, pitch});
  TSTORE(to, tile);
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}

AICORE void wait_for(pipe_t earlier, pipe_t later) {
  set_flag(earlier, later, EVENT_ID1);
  wait_flag(earlier, later, EVENT_ID1);
}

}  // namespace

/// out = [a0 * b; a1 * b], where a1 is loaded over a0 before the first product.
BATON_KERNEL(load_again, In<ELEMENT, 2> a, In<ELEMENT, 2> b, Out<float, 2> out) {
  auto first = tile_at<Square>(0);
  auto second = tile_at<Square>(kBytes);
  auto left = tile_at<Left>(0);
  auto right = tile_at<Right>(0);
  auto sums = tile_at<Sums>(0);
  load_at(first, a.data(), kSide, 0, 0);
  load_at(second, b.data(), kSide, 0, 0);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  TMOV(left, first);
  TMOV(right, second);
  wait_for(PIPE_MTE1, PIPE_MTE2);
  load_at(first, a.data(), kSide, kSide, 0);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL(sums, left, right);
  store_at(out.data(), kSide, 0, 0, sums);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  wait_for(PIPE_M, PIPE_MTE1);
  TMOV(left, first);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL(sums, left, right);
  store_at(out.data(), kSide, kSide, 0, sums);
}

/// out = [a0 * b + a0 * b; a1 * b + a1 * b], product by product in turns.
BATON_KERNEL(sum_in_turns, In<ELEMENT, 2> a, In<ELEMENT, 2> b, Out<float, 2> out) {
  auto first = tile_at<Square>(0);
  auto second = tile_at<Square>(kBytes);
  auto third = tile_at<Square>(2 * kBytes);
  auto left = tile_at<Left>(0);
  auto other_left = tile_at<Left>(kBytes);
  auto right = tile_at<Right>(0);
  auto sums = tile_at<Sums>(0);
  auto other_sums = tile_at<Sums>(kSumBytes);
  load_at(first, a.data(), kSide, 0, 0);
  load_at(second, a.data(), kSide, kSide, 0);
  load_at(third, b.data(), kSide, 0, 0);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  TMOV(left, first);
  TMOV(other_left, second);
  TMOV(right, third);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL(sums, left, right);
  TMATMUL(other_sums, other_left, right);
  TMATMUL_ACC(sums, left, right);
  TMATMUL_ACC(other_sums, other_left, right);
  store_at(out.data(), kSide, 0, 0, sums);
  store_at(out.data(), kSide, kSide, 0, other_sums);
}

/// out = a part of a by a part of b: 64 x 48 elements from (32, 16) on, 48 x 32 from (16, 32) on.
BATON_KERNEL(multiply_parts, In<ELEMENT, 2> a, In<ELEMENT, 2> b, Out<float, 2> out) {
  auto first = tile_at<Mat<128, 96>>(0);
  auto second = tile_at<Mat<96, 80>>(128 * 96 * 2);
  auto left = tile_at<pto::TileLeft<Element, 64, 48>>(0);
  auto right = tile_at<pto::TileRight<Element, 48, 32>>(0);
  auto sums = tile_at<pto::TileAcc<float, 64, 32>>(0);
  load_at(first, a.data(), 96, 0, 0);
  load_at(second, b.data(), 80, 0, 0);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  TEXTRACT(left, first, 32, 16);
  TEXTRACT(right, second, 16, 32);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL(sums, left, right);
  store_at(out.data(), 32, 0, 0, sums);
}

/// out = bias + a * b + a * b.
BATON_KERNEL(add_bias, In<ELEMENT, 2> a, In<ELEMENT, 2> b, In<float> bias, Out<float, 2> out) {
  auto first = tile_at<Square>(0);
  auto second = tile_at<Square>(kBytes);
  auto line = tile_at<pto::Tile<pto::TileType::Mat, float, 1, kSide>>(2 * kBytes);
  auto bias_line = tile_at<pto::Tile<pto::TileType::Bias, float, 1, kSide>>(0);
  auto left = tile_at<Left>(0);
  auto right = tile_at<Right>(0);
  auto sums = tile_at<Sums>(0);
  Matrix<const float, 1, kSide> from(bias.data(), {}, {0, 0, 0, kSide});
  TLOAD(line, from);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  TMOV(bias_line, line);
  load_at(first, a.data(), kSide, 0, 0);
  load_at(second, b.data(), kSide, 0, 0);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  TMOV(left, first);
  TMOV(right, second);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL_BIAS(sums, left, right, bias_line);
  TMATMUL_ACC(sums, left, right);
  store_at(out.data(), kSide, 0, 0, sums);
}

/// out = (a * b, rounded) * b: the first product becomes a tile of Mat.
BATON_KERNEL(multiply_twice, In<ELEMENT, 2> a, In<ELEMENT, 2> b, Out<float, 2> out) {
  auto first = tile_at<Square>(0);
  auto second = tile_at<Square>(kBytes);
  auto left = tile_at<Left>(0);
  auto right = tile_at<Right>(0);
  auto sums = tile_at<Sums>(0);
  load_at(first, a.data(), kSide, 0, 0);
  load_at(second, b.data(), kSide, 0, 0);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  TMOV(left, first);
  TMOV(right, second);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL(sums, left, right);
  wait_for(PIPE_M, PIPE_FIX);
  TMOV(first, sums);
  wait_for(PIPE_FIX, PIPE_MTE1);
  wait_for(PIPE_M, PIPE_MTE1);
  TMOV(left, first);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL(sums, left, right);
  store_at(out.data(), kSide, 0, 0, sums);
}

/// As many rows and columns as are asked for, of which the tiles have more: out = a * b.
BATON_KERNEL(multiply_some, In<ELEMENT, 2> a, In<ELEMENT, 2> b, Out<float, 2> out) {
  constexpr int kAny = pto::DYNAMIC;
  const auto rows = static_cast<unsigned>(a.shape(0));
  const auto depth = static_cast<unsigned>(a.shape(1));
  const auto cols = static_cast<unsigned>(b.shape(1));
  pto::Tile<pto::TileType::Mat, Element, 256, 64, pto::BLayout::ColMajor, kAny, kAny, pto::SLayout::RowMajor> first(
      rows, depth);
  pto::Tile<pto::TileType::Mat, Element, 64, 128, pto::BLayout::ColMajor, kAny, kAny, pto::SLayout::RowMajor> second(
      depth, cols);
  pto::TileLeft<Element, 256, 64, kAny, kAny> left(rows, depth);
  pto::TileRight<Element, 64, 128, kAny, kAny> right(depth, cols);
  pto::TileAcc<float, 256, 128, kAny, kAny> sums(rows, cols);
  TASSIGN(first, 0);
  TASSIGN(second, 256 * 64 * 2);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(sums, 0);
  auto from_a = a.block();
  auto from_b = b.block();
  auto to = out.block();
  TLOAD(first, from_a);
  TLOAD(second, from_b);
  wait_for(PIPE_MTE2, PIPE_MTE1);
  TMOV(left, first);
  TMOV(right, second);
  wait_for(PIPE_MTE1, PIPE_M);
  TMATMUL(sums, left, right);
  wait_for(PIPE_M, PIPE_FIX);
  TSTORE(to, sums);
}
