// A layer whose weights are spread over the ranks: each multiplies its part on a cube core, then vector cores add up.
#include "../common/sum_over_ranks.hpp"

namespace {

constexpr int kSide = 64;  // of a tile: 16 KiB
using Matrix = pto::Tile<pto::TileType::Mat, float, kSide, kSide, pto::BLayout::ColMajor, pto::DYNAMIC, pto::DYNAMIC,
                         pto::SLayout::RowMajor, 512>;
using Left = pto::TileLeft<float, kSide, kSide, pto::DYNAMIC, pto::DYNAMIC>;
using Right = pto::TileRight<float, kSide, kSide, pto::DYNAMIC, pto::DYNAMIC>;
using Sum = pto::TileAcc<float, kSide, kSide, pto::DYNAMIC, pto::DYNAMIC>;

AICORE inline int64_t part(int64_t first, int64_t size) { return size - first < kSide ? size - first : kSide; }

}  // namespace

/// partial = x w, in tiles; those at the edges are smaller.
BATON_CUBE_KERNEL(multiply, In<float, 2> x, In<float, 2> w, Out<float, 2> partial) {
  for (int64_t row = 0; row < x.shape(0); row += kSide) {
    for (int64_t col = 0; col < w.shape(1); col += kSide) {
      const int64_t rows = part(row, x.shape(0)), cols = part(col, w.shape(1));
      Sum sum(rows, cols);
      TASSIGN(sum, 0);
      for (int64_t inner = 0; inner < x.shape(1); inner += kSide) {
        const int64_t depth = part(inner, x.shape(1));
        Matrix x_matrix(rows, depth), w_matrix(depth, cols);
        Left left(rows, depth);
        Right right(depth, cols);
        TASSIGN(x_matrix, 0);
        TASSIGN(w_matrix, kSide * kSide * sizeof(float));
        TASSIGN(left, 0);
        TASSIGN(right, 0);
        auto x_block = x.block(row, inner, rows, depth);
        auto w_block = w.block(inner, col, depth, cols);
        TLOAD(x_matrix, x_block);
        TLOAD(w_matrix, w_block);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        TMOV(left, x_matrix);
        TMOV(right, w_matrix);
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        if (inner == 0) {
          TMATMUL(sum, left, right);
        } else {
          TMATMUL_ACC(sum, left, right);
        }
        pipe_barrier(PIPE_ALL);  // the next tiles take the place of these
      }
      auto to = partial.block(row, col, rows, cols);
      TSTORE(to, sum);
      pipe_barrier(PIPE_ALL);
    }
  }
}

/// y = the sum of the partial results of all ranks.
BATON_KERNEL(add_partials, InOut<float> partial, InOut<int32_t> signals, Out<float> y, CommContext* context,
             int32_t epoch) {
  collective::sum_over_ranks({context, partial, signals}, y.data(), y.size(), epoch);
}
