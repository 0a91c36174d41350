// Products of matrices as a kernel author writes them: tiles of Mat in four stages, two of Left and Right, flags
// between all pipes. ELEMENT is the type of factors and results.
#include <baton_kernel.hpp>

#ifndef ELEMENT
#define ELEMENT bfloat16_t
#endif

namespace {

using Element = ELEMENT;
constexpr int kRows = 128;
constexpr int kCols = 256;
constexpr int kDepth = 128;
constexpr int kStages = 2;
constexpr int kSlots = 1;
/// Loads that are under way while a product is calculated: the tile of a product may be loaded again when those of
/// Left and Right have been, too.
constexpr int kAhead = kStages - kSlots;
/// Tiles of this many rows take turns before the next column, so that both factors stay in the nearest cache.
constexpr int kGroup = 8;
constexpr int64_t kLeftBytes = kRows * kDepth * 2;
constexpr int64_t kRightBytes = kDepth * kCols * 2;

using Acc = pto::TileAcc<float, kRows, kCols, pto::DYNAMIC, pto::DYNAMIC>;

/// How right lies in memory: a row of it, or a column, in each line.
enum class Right : uint8_t { by_rows, by_columns };

/// Which tile of the result, and which step of its product.
struct Place {
  int tile;
  int step;
  int row;
  int col;
};

AICORE int least(int a, int b) { return a < b ? a : b; }

/// `kWhole`: sizes are multiples of those of tiles, and the compiler knows them.
template <Right kRight, bool kWhole>
struct Matmul {
  static constexpr int kAny = pto::DYNAMIC;
  static constexpr int kValidRows = kWhole ? kRows : kAny;
  static constexpr int kValidCols = kWhole ? kCols : kAny;
  static constexpr int kValidDepth = kWhole ? kDepth : kAny;
  static constexpr bool kByRows = kRight == Right::by_rows;
  using LeftMat = pto::Tile<pto::TileType::Mat, Element, kRows, kDepth, pto::BLayout::ColMajor, kValidRows, kValidDepth,
                            pto::SLayout::RowMajor>;
  using RightMat =
      pto::Tile<pto::TileType::Mat, Element, kDepth, kCols, kByRows ? pto::BLayout::ColMajor : pto::BLayout::RowMajor,
                kValidDepth, kValidCols, kByRows ? pto::SLayout::RowMajor : pto::SLayout::ColMajor>;
  using LeftTile = pto::TileLeft<Element, kRows, kDepth, kValidRows, kValidDepth>;
  using RightTile = pto::TileRight<Element, kDepth, kCols, kValidDepth, kValidCols>;
  template <int kOuter, int kInner, pto::Layout kLayout>
  using Matrix = pto::GlobalTensor<const Element, pto::Shape<1, 1, 1, kOuter, kInner>,
                                   pto::Stride<kAny, kAny, kAny, kAny, kAny>, kLayout>;

  const Element* a;
  const Element* b;
  Element* c;
  int rows;
  int cols;
  int depth;
  int steps;
  int blocks;
  int row_tiles;
  int col_tiles;

  AICORE int rows_at(const Place& at) const { return kWhole ? kRows : least(kRows, rows - at.row); }
  AICORE int cols_at(const Place& at) const { return kWhole ? kCols : least(kCols, cols - at.col); }
  AICORE int depth_at(const Place& at) const { return kWhole ? kDepth : least(kDepth, depth - at.step * kDepth); }

  AICORE Place place_of(int tile) const {
    const int group = tile / (kGroup * col_tiles);
    const int in_group = tile % (kGroup * col_tiles);
    const int height = least(kGroup, row_tiles - group * kGroup);
    return {tile, 0, (group * kGroup + in_group % height) * kRows, in_group / height * kCols};
  }
  AICORE void advance(Place& at) const {
    if (++at.step == steps) at = place_of(at.tile + blocks);
  }

  template <typename TileData>
  AICORE static TileData tile_of(int valid_rows, int valid_cols, int64_t place) {
    TileData tile;
    if constexpr (!kWhole) tile.SetValidShape(valid_rows, valid_cols);
    TASSIGN(tile, place);
    return tile;
  }
  template <typename Global>
  AICORE static Global matrix_of(const Element* data, int rows, int cols, int row_pitch, int col_pitch) {
    if constexpr (kWhole) {
      return Global(data, {}, {0, 0, 0, row_pitch, col_pitch});
    } else {
      return Global(data, {rows, cols}, {0, 0, 0, row_pitch, col_pitch});
    }
  }
  AICORE LeftMat left_mat(const Place& at, int stage) const {
    return tile_of<LeftMat>(rows_at(at), depth_at(at), stage * (kLeftBytes + kRightBytes));
  }
  AICORE RightMat right_mat(const Place& at, int stage) const {
    return tile_of<RightMat>(depth_at(at), cols_at(at), stage * (kLeftBytes + kRightBytes) + kLeftBytes);
  }

  AICORE void load(const Place& at, int stage) const {
    LeftMat left = left_mat(at, stage);
    RightMat right = right_mat(at, stage);
    const int k = at.step * kDepth;
    auto from_a = matrix_of<Matrix<kValidRows, kValidDepth, pto::Layout::ND>>(a + int64_t{at.row} * depth + k,
                                                                              rows_at(at), depth_at(at), depth, 1);
    auto from_b = matrix_of<Matrix<kValidDepth, kValidCols, kByRows ? pto::Layout::ND : pto::Layout::DN>>(
        kByRows ? b + int64_t{k} * cols + at.col : b + int64_t{at.col} * depth + k, depth_at(at), cols_at(at),
        kByRows ? cols : 1, kByRows ? 1 : depth);
    TLOAD(left, from_a);
    TLOAD(right, from_b);
    set_flag(PIPE_MTE2, PIPE_MTE1, stage);
  }

  AICORE void multiply(const Place& at, int stage, int slot) const {
    LeftMat left_from = left_mat(at, stage);
    RightMat right_from = right_mat(at, stage);
    LeftTile left = tile_of<LeftTile>(rows_at(at), depth_at(at), slot * kLeftBytes);
    RightTile right = tile_of<RightTile>(depth_at(at), cols_at(at), slot * kRightBytes);
    TMOV(left, left_from);
    TMOV(right, right_from);
    set_flag(PIPE_MTE1, PIPE_MTE2, stage);
    set_flag(PIPE_MTE1, PIPE_M, slot);
    wait_flag(PIPE_MTE1, PIPE_M, slot);
    Acc acc(static_cast<unsigned>(rows_at(at)), static_cast<unsigned>(cols_at(at)));
    TASSIGN(acc, 0);
    if (at.step == 0) {
      TMATMUL(acc, left, right);
    } else {
      TMATMUL_ACC(acc, left, right);
    }
    set_flag(PIPE_M, PIPE_MTE1, slot);
  }

  AICORE void store(const Place& at) const {
    Acc acc(static_cast<unsigned>(rows_at(at)), static_cast<unsigned>(cols_at(at)));
    TASSIGN(acc, 0);
    using Out = pto::GlobalTensor<Element, pto::Shape<1, 1, 1, kAny, kAny>, pto::Stride<kAny, kAny, kAny, kAny, 1>>;
    Out out(c + int64_t{at.row} * cols + at.col, {rows_at(at), cols_at(at)}, {0, 0, 0, cols});
    set_flag(PIPE_M, PIPE_FIX, 0);
    wait_flag(PIPE_M, PIPE_FIX, 0);
    TSTORE(out, acc);
    set_flag(PIPE_FIX, PIPE_M, 0);
  }

  AICORE void run(int first) const {
    const int tiles = row_tiles * col_tiles;
    const int mine = first < tiles ? (tiles - first + blocks - 1) / blocks : 0;
    const int all = mine * steps;
    if (all == 0) return;
    Place at = place_of(first);
    Place next = at;
    for (int i = 0; i < kAhead && i < all; ++i, advance(next)) load(next, i % kStages);
    for (int i = 0; i < all; ++i, advance(at)) {
      const int stage = i % kStages;
      const int slot = i % kSlots;
      wait_flag(PIPE_MTE2, PIPE_MTE1, stage);
      if (i >= kSlots) wait_flag(PIPE_M, PIPE_MTE1, slot);
      if (at.step == 0 && i > 0) wait_flag(PIPE_FIX, PIPE_M, 0);
      multiply(at, stage, slot);
      if (i + kAhead < all) {
        const int there = (i + kAhead) % kStages;
        if (i + kAhead >= kStages) wait_flag(PIPE_MTE1, PIPE_MTE2, there);
        load(next, there);
        advance(next);
      }
      if (at.step + 1 == steps) store(at);
    }
    for (int i = all < kStages ? 0 : all - kStages; i < all; ++i) {
      wait_flag(PIPE_MTE1, PIPE_MTE2, i % kStages);
    }
    for (int i = all < kSlots ? 0 : all - kSlots; i < all; ++i) {
      wait_flag(PIPE_M, PIPE_MTE1, i % kSlots);
    }
    wait_flag(PIPE_FIX, PIPE_M, 0);
  }
};

template <Right kRight>
AICORE void matmul(const ELEMENT* a, const ELEMENT* b, ELEMENT* c, int rows, int depth, int cols, int64_t* args) {
  const int steps = (depth + kDepth - 1) / kDepth;
  const int row_tiles = (rows + kRows - 1) / kRows;
  const int col_tiles = (cols + kCols - 1) / kCols;
  const int blocks = get_block_num(args);
  if (rows % kRows == 0 && cols % kCols == 0 && depth % kDepth == 0) {
    Matmul<kRight, true>{a, b, c, rows, cols, depth, steps, blocks, row_tiles, col_tiles}.run(get_block_idx(args));
  } else {
    Matmul<kRight, false>{a, b, c, rows, cols, depth, steps, blocks, row_tiles, col_tiles}.run(get_block_idx(args));
  }
}

}  // namespace

/// c = a * b, all by rows.
BATON_KERNEL(matmul_by_rows, In<ELEMENT, 2> a, In<ELEMENT, 2> b, Out<ELEMENT, 2> c) {
  matmul<Right::by_rows>(a.data(), b.data(), c.data(), static_cast<int>(c.shape(0)), static_cast<int>(a.shape(1)),
                         static_cast<int>(c.shape(1)), args);
}

/// c = a * the transposed b: columns of the right factor lie in lines.
BATON_KERNEL(matmul_by_columns, In<ELEMENT, 2> a, In<ELEMENT, 2> b, Out<ELEMENT, 2> c) {
  matmul<Right::by_columns>(a.data(), b.data(), c.data(), static_cast<int>(c.shape(0)), static_cast<int>(a.shape(1)),
                            static_cast<int>(c.shape(1)), args);
}
