// Where the elements of a tile lie in its buffer. Tiles of other types and layouts may lie over the same bytes, so this
// order is part of what a kernel means.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/enums.hpp>

namespace baton::kernel {

/// The bytes that a region of a tile touches: `runs` of `run_bytes`, `pitch_bytes` apart.
struct Footprint {
  int64_t runs;
  int64_t run_bytes;
  int64_t pitch_bytes;

  /// From the first byte to behind the last one.
  constexpr AICORE int64_t reach() const { return runs == 0 ? 0 : (runs - 1) * pitch_bytes + run_bytes; }
};

/// A boxed tile is a sequence of bands: of box rows if its blocks are row-major, else of box columns. A band is a
/// sequence of boxes, and a box is stored row by row or column by column.
template <typename TileData>
struct Storage {
  static constexpr bool kBoxed = TileData::isBoxedLayout;
  static constexpr bool kBandsAreRows = TileData::isRowMajor;
  static constexpr bool kBoxesAreRows = TileData::SFractal == pto::SLayout::RowMajor;
  static constexpr int kBoxRows = TileData::InnerRows;
  static constexpr int kBoxCols = TileData::InnerCols;
  static constexpr int64_t kBox = int64_t{kBoxRows} * kBoxCols;
  static constexpr int64_t kElementBytes = sizeof(typename TileData::DType);
  /// Elements from one band to the next; of a tile without boxes from one row or column to the next.
  static constexpr int64_t kBand = !kBoxed         ? (kBandsAreRows ? TileData::Cols : TileData::Rows)
                                   : kBandsAreRows ? int64_t{TileData::Cols} * kBoxRows
                                                   : (TileData::Rows + kBoxRows - 1) / kBoxRows * kBox;
  /// How many elements of a row, or of a column, follow each other in memory, from multiples of that number on.
  static constexpr int kRowRun = !kBoxed ? (kBandsAreRows ? TileData::Cols : 1) : (kBoxesAreRows ? kBoxCols : 1);
  static constexpr int kColRun = !kBoxed ? (kBandsAreRows ? 1 : TileData::Rows) : (kBoxesAreRows ? 1 : kBoxRows);

  /// Elements from one run of a row, or column, to the next of the same; for tiles with boxes.
  static constexpr int64_t kNextRun = kBandsAreRows == kBoxesAreRows ? kBox : kBand;

  static constexpr AICORE int64_t offset(int64_t row, int64_t col) {
    if constexpr (!kBoxed) {
      return kBandsAreRows ? row * kBand + col : col * kBand + row;
    } else {
      const int64_t box_row = row / kBoxRows;
      const int64_t box_col = col / kBoxCols;
      const int64_t box = kBandsAreRows ? box_row * kBand + box_col * kBox : box_col * kBand + box_row * kBox;
      const int64_t r = row % kBoxRows;
      const int64_t c = col % kBoxCols;
      return box + (kBoxesAreRows ? r * kBoxCols + c : c * kBoxRows + r);
    }
  }

  /// What rows x cols elements from the first one on touch; of boxed tiles to within a few elements.
  static constexpr AICORE Footprint footprint(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return {0, 0, kBand * kElementBytes};
    const int64_t box_rows = (rows + kBoxRows - 1) / kBoxRows;
    const int64_t box_cols = (cols + kBoxCols - 1) / kBoxCols;
    const int64_t bands = kBandsAreRows ? box_rows : box_cols;
    int64_t run = 0;
    if (!kBoxed) {
      run = kBandsAreRows ? cols : rows;
    } else if (kBandsAreRows == kBoxesAreRows) {
      run = (kBandsAreRows ? box_cols : box_rows) * kBox;
    } else {
      // Lines across the band follow each other through all of its boxes.
      run = kBandsAreRows ? cols * kBoxRows : rows * kBoxCols;
    }
    return {bands, run * kElementBytes, kBand * kElementBytes};
  }
};

}  // namespace baton::kernel
