// Softmax, layer norm and extremes of rows of COLS floats, ROWS of them in a tile, streamed through Vec: of the tests,
// and of bench/cuda.
#include <baton_kernel.hpp>

#if !defined(COLS)
#define COLS 1024
#endif
#if !defined(ROWS)
#define ROWS 8
#endif

namespace {

constexpr int kRows = ROWS;
constexpr int kStages = 3;
using Block = pto::Tile<pto::TileType::Vec, float, kRows, COLS>;
constexpr int kColumnRows = (kRows + 7) / 8 * 8;  // a multiple of 32 bytes
using Column = pto::Tile<pto::TileType::Vec, float, kColumnRows, 1, pto::BLayout::ColMajor, kRows, 1>;
/// The same elements for instructions that take lines.
using Flat = pto::Tile<pto::TileType::Vec, float, 1, kColumnRows, pto::BLayout::RowMajor, 1, kRows>;
/// What reductions may overwrite.
using Spare = pto::Tile<pto::TileType::Vec, float, 1, 8>;
constexpr int64_t kTileBytes = int64_t{kRows} * COLS * int64_t{sizeof(float)};
constexpr int64_t kColumnBytes = 512;  // where tiles may begin

struct Scratch {
  Spare spare;
  Block squares;
  Column first;
  Column second;
  Flat flat_first;
  Flat flat_second;
  AICORE Scratch() {
    constexpr int64_t kColumns = (kStages + 1) * kTileBytes;
    TASSIGN(squares, kStages * kTileBytes);
    TASSIGN(first, kColumns);
    TASSIGN(flat_first, kColumns);
    TASSIGN(second, kColumns + kColumnBytes);
    TASSIGN(flat_second, kColumns + kColumnBytes);
    TASSIGN(spare, kColumns + 2 * kColumnBytes);
  }
};

/// Each block of the task takes its share of tiles, of which the next ones are on their way while `change(tile)` works
/// on one, in place.
template <typename In, typename Out, typename Change>
AICORE void stream_rows(int64_t* args, const In& x, const Out& y, const Change& change) {
  const int64_t step = get_block_num(args);
  const int64_t first = get_block_idx(args);
  const int64_t all = x.shape(0) / kRows;
  const int64_t tiles = first < all ? (all - first + step - 1) / step : 0;
  const auto row_of = [&](int64_t i) { return (first + i * step) * kRows; };
  const auto load = [&](int64_t i) {
    Block tile;
    TASSIGN(tile, i % kStages * kTileBytes);
    auto from = x.block(row_of(i), 0, kRows, COLS);
    TLOAD(tile, from);
    set_flag(PIPE_MTE2, PIPE_V, static_cast<int>(i % kStages));
  };
  for (int64_t i = 0; i < tiles && i < kStages; ++i) load(i);
  for (int64_t i = 0; i < tiles; ++i) {
    const int stage = static_cast<int>(i % kStages);
    Block tile;
    TASSIGN(tile, stage * kTileBytes);
    wait_flag(PIPE_MTE2, PIPE_V, stage);
    change(tile);
    set_flag(PIPE_V, PIPE_MTE3, stage);
    wait_flag(PIPE_V, PIPE_MTE3, stage);
    auto to = y.block(row_of(i), 0, kRows, COLS);
    TSTORE(to, tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, stage);
    if (i == 0) continue;
    // The stage before this one is filled again as soon as it is stored.
    wait_flag(PIPE_MTE3, PIPE_MTE2, static_cast<int>((i - 1) % kStages));
    if (i - 1 + kStages < tiles) load(i - 1 + kStages);
  }
  if (tiles > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, static_cast<int>((tiles - 1) % kStages));
}

}  // namespace

/// As many rows as a multiple of ROWS.
BATON_KERNEL(softmax_rows, In<float, 2> x, Out<float, 2> y) {
  Scratch scratch;
  stream_rows(args, x, y, [&](Block& tile) {
    TROWMAX(scratch.first, tile, scratch.spare);
    pipe_barrier(PIPE_V);
    TROWEXPANDSUB(tile, tile, scratch.first);
    pipe_barrier(PIPE_V);
    TEXP(tile, tile);
    pipe_barrier(PIPE_V);
    TROWSUM(scratch.first, tile, scratch.spare);
    pipe_barrier(PIPE_V);
    TROWEXPANDDIV(tile, tile, scratch.first);
  });
}

/// Rows of mean 0 and variance 1.
BATON_KERNEL(layer_norm_rows, In<float, 2> x, Out<float, 2> y) {
  constexpr float kEpsilon = 1e-5F;
  Scratch scratch;
  stream_rows(args, x, y, [&](Block& tile) {
    TROWSUM(scratch.first, tile, scratch.spare);
    pipe_barrier(PIPE_V);
    TMULS(scratch.flat_first, scratch.flat_first, 1.0F / COLS);
    pipe_barrier(PIPE_V);
    TROWEXPANDSUB(tile, tile, scratch.first);
    pipe_barrier(PIPE_V);
    TMUL(scratch.squares, tile, tile);
    pipe_barrier(PIPE_V);
    TROWSUM(scratch.second, scratch.squares, scratch.spare);
    pipe_barrier(PIPE_V);
    TMULS(scratch.flat_second, scratch.flat_second, 1.0F / COLS);
    pipe_barrier(PIPE_V);
    TADDS(scratch.flat_second, scratch.flat_second, kEpsilon);
    pipe_barrier(PIPE_V);
    TRSQRT(scratch.flat_second, scratch.flat_second);
    pipe_barrier(PIPE_V);
    TROWEXPANDMUL(tile, tile, scratch.second);
  });
}

/// The largest number of each row, all over it.
BATON_KERNEL(largest_of_rows, In<float, 2> x, Out<float, 2> y) {
  Scratch scratch;
  stream_rows(args, x, y, [&](Block& tile) {
    TROWMAX(scratch.first, tile, scratch.spare);
    pipe_barrier(PIPE_V);
    TROWEXPAND(tile, scratch.first);
  });
}
/// The smallest.
BATON_KERNEL(smallest_of_rows, In<float, 2> x, Out<float, 2> y) {
  Scratch scratch;
  stream_rows(args, x, y, [&](Block& tile) {
    TROWMIN(scratch.first, tile, scratch.spare);
    pipe_barrier(PIPE_V);
    TROWEXPAND(tile, scratch.first);
  });
}
