// Products of matrices of any size on a cube core, in tiles.
#pragma once

#include <baton_kernel.hpp>

namespace matrix {

constexpr int kSide = 64;  // of a tile: 16 KiB of floats
using Loaded = pto::Tile<pto::TileType::Mat, float, kSide, kSide, pto::BLayout::ColMajor, pto::DYNAMIC, pto::DYNAMIC,
                         pto::SLayout::RowMajor, 512>;
using Left = pto::TileLeft<float, kSide, kSide, pto::DYNAMIC, pto::DYNAMIC>;
using Right = pto::TileRight<float, kSide, kSide, pto::DYNAMIC, pto::DYNAMIC>;
using Sum = pto::TileAcc<float, kSide, kSide, pto::DYNAMIC, pto::DYNAMIC>;

/// The size of a tile that begins at `first`; those at the edges are smaller.
AICORE inline int64_t part(int64_t first, int64_t size) { return size - first < kSide ? size - first : kSide; }

/// sum = the product of a row of tiles of x and a column of tiles of w.
AICORE inline void multiply_tiles(Sum& sum, const baton::In<float, 2>& x, const baton::In<float, 2>& w, int64_t row,
                                  int64_t col) {
  const int64_t rows = part(row, x.shape(0));
  const int64_t cols = part(col, w.shape(1));
  for (int64_t inner = 0; inner < x.shape(1); inner += kSide) {
    const int64_t depth = part(inner, x.shape(1));
    Loaded x_loaded(rows, depth);
    Loaded w_loaded(depth, cols);
    Left left(rows, depth);
    Right right(depth, cols);
    TASSIGN(x_loaded, 0);
    TASSIGN(w_loaded, kSide * kSide * sizeof(float));
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    auto x_block = x.block(row, inner, rows, depth);
    auto w_block = w.block(inner, col, depth, cols);
    TLOAD(x_loaded, x_block);
    TLOAD(w_loaded, w_block);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, x_loaded);
    TMOV(right, w_loaded);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    if (inner == 0) {
      TMATMUL(sum, left, right);
    } else {
      TMATMUL_ACC(sum, left, right);
    }
    pipe_barrier(PIPE_ALL);  // the next tiles take the place of these
  }
}

/// y = x w.
AICORE inline void multiply(const baton::In<float, 2>& x, const baton::In<float, 2>& w, const baton::Out<float, 2>& y) {
  for (int64_t row = 0; row < x.shape(0); row += kSide) {
    for (int64_t col = 0; col < w.shape(1); col += kSide) {
      Sum sum(part(row, x.shape(0)), part(col, w.shape(1)));
      TASSIGN(sum, 0);
      multiply_tiles(sum, x, w, row, col);
      auto to = y.block(row, col, part(row, x.shape(0)), part(col, w.shape(1)));
      TSTORE(to, sum);
      pipe_barrier(PIPE_ALL);
    }
  }
}

}  // namespace matrix
