// What kernels of the tests of pipes have in common: chunks of 16 x 64 floats, halves of them, and a product that fills
// an accumulator.
#pragma once

#include <cstdint>

#include <intrinsic.h>
#include <tensor.h>
#include <pto/pto-inst.hpp>

namespace pipe_kernels {

using namespace pto;
using Chunk = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>>;
using Square = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 64, 1>>;
using MatOf16 = Tile<TileType::Mat, float, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor, 512>;
using MatOf64 = Tile<TileType::Mat, float, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor, 512>;
using Acc = TileAcc<float, 16, 64>;
using VecHalf = Tile<TileType::Vec, float, 8, 64>;
using VecSide = Tile<TileType::Vec, float, 16, 32>;
using VecOpen = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
constexpr TileSplitAxis kWhole = TileSplitAxis::TILE_NO_SPLIT;
constexpr TileSplitAxis kUpDown = TileSplitAxis::TILE_UP_DOWN;
constexpr TileSplitAxis kLeftRight = TileSplitAxis::TILE_LEFT_RIGHT;
constexpr int kChunkBytes = 16 * 64 * 4;

AICORE inline float* floats(int64_t argument) {
  auto* tensor = reinterpret_cast<::Tensor*>(argument);
  return reinterpret_cast<float*>(tensor->buffer.addr) + tensor->start_offset;
}

/// acc = chunk n of x, by a product with the unit matrix.
struct Product {
  MatOf16 mat;
  MatOf64 unit;
  TileLeft<float, 16, 64> left;
  TileRight<float, 64, 64> right;
  Acc acc;

  AICORE explicit Product(float* unit_matrix) {
    TASSIGN(mat, 0);
    TASSIGN(unit, 0x10000);
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    TASSIGN(acc, 0);
    Square source(unit_matrix);
    TLOAD(unit, source);
    pipe_barrier(PIPE_ALL);
    TMOV(right, unit);
    pipe_barrier(PIPE_ALL);
  }
  AICORE void take(MatOf16& from) {
    pipe_barrier(PIPE_ALL);
    TMOV(left, from);
    pipe_barrier(PIPE_ALL);
    TMATMUL(acc, left, right);
    pipe_barrier(PIPE_ALL);
  }
  AICORE void load(float* x) {
    Chunk source(x);
    TLOAD(mat, source);
    take(mat);
  }
};

}  // namespace pipe_kernels
