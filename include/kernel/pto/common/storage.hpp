// Where the elements of a tile lie in its buffer. Tiles of other types and layouts may lie over the same bytes, so this
// order is part of what a kernel means.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/enums.hpp>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

/// The bytes that a region of a tile touches: `runs` of `run_bytes`, `pitch_bytes` apart.
struct Footprint {
  int64_t runs;
  int64_t run_bytes;
  int64_t pitch_bytes;

  /// From the first byte to behind the last one.
  constexpr AICORE int64_t reach() const { return runs == 0 ? 0 : (runs - 1) * pitch_bytes + run_bytes; }
};

/// Rows, or columns, of a tile: how far each of them is from the first. An element is as far from the first one as its
/// row and its column are together.
struct Axis {
  int64_t boxes;   // elements from one box to the next
  int64_t inside;  // and to the next one in a box
  uint8_t bits;

  constexpr PTO_INLINE AICORE int64_t offset(int64_t at) const {
    return (at >> bits) * boxes + (at & ((int64_t{1} << bits) - 1)) * inside;
  }
  /// From each to the next one, where that is always as far; else 0.
  constexpr PTO_INLINE AICORE int64_t pitch() const {
    return bits == 0 ? boxes : (boxes == inside << bits ? inside : 0);
  }
};

/// The order of a tile's elements, without its type.
///
/// A boxed tile is a sequence of bands: of box rows if its blocks are row-major, else of box columns. A band is a
/// sequence of boxes, and a box is stored row by row or column by column.
struct TileOrder {
  int32_t rows;
  int32_t cols;
  /// Elements from one band to the next; of a tile without boxes from one row or column to the next.
  int32_t band;
  uint8_t box_row_bits;  // a box has 1 << box_row_bits rows
  uint8_t box_col_bits;
  uint8_t element_bytes;
  bool boxed;
  bool bands_are_rows;
  bool boxes_are_rows;

  constexpr PTO_INLINE AICORE int32_t box_rows() const { return 1 << box_row_bits; }
  constexpr PTO_INLINE AICORE int32_t box_cols() const { return 1 << box_col_bits; }
  constexpr PTO_INLINE AICORE int64_t box() const { return int64_t{1} << (box_row_bits + box_col_bits); }

  /// How many elements of a row, or of a column, follow each other in memory, from multiples of that number on.
  constexpr PTO_INLINE AICORE int64_t row_run() const {
    return !boxed ? (bands_are_rows ? cols : 1) : (boxes_are_rows ? box_cols() : 1);
  }
  constexpr PTO_INLINE AICORE int64_t col_run() const {
    return !boxed ? (bands_are_rows ? 1 : rows) : (boxes_are_rows ? 1 : box_rows());
  }

  /// Elements from the first one to element (row, col).
  constexpr PTO_INLINE AICORE int64_t offset(int64_t row, int64_t col) const {
    if (!boxed) return bands_are_rows ? row * band + col : col * band + row;
    const int64_t box_row = row >> box_row_bits;
    const int64_t box_col = col >> box_col_bits;
    const int64_t first = bands_are_rows ? box_row * band + box_col * box() : box_col * band + box_row * box();
    const int64_t r = row & (box_rows() - 1);
    const int64_t c = col & (box_cols() - 1);
    return first + (boxes_are_rows ? (r << box_col_bits) + c : (c << box_row_bits) + r);
  }

  constexpr PTO_INLINE AICORE Axis row_axis() const {
    if (!boxed) return {bands_are_rows ? band : 1, 0, 0};
    return {bands_are_rows ? band : box(), boxes_are_rows ? box_cols() : 1, box_row_bits};
  }
  constexpr PTO_INLINE AICORE Axis col_axis() const {
    if (!boxed) return {bands_are_rows ? 1 : band, 0, 0};
    return {bands_are_rows ? box() : band, boxes_are_rows ? 1 : box_rows(), box_col_bits};
  }

  /// What rows x cols elements from the first one on touch; of boxed tiles to within a few elements.
  constexpr PTO_INLINE AICORE Footprint footprint(int64_t used_rows, int64_t used_cols) const {
    const int64_t pitch = int64_t{band} * element_bytes;
    if (used_rows <= 0 || used_cols <= 0) return {0, 0, pitch};
    if (!boxed) {
      return {bands_are_rows ? used_rows : used_cols, (bands_are_rows ? used_cols : used_rows) * element_bytes, pitch};
    }
    const int64_t row_boxes = (used_rows + box_rows() - 1) >> box_row_bits;
    const int64_t col_boxes = (used_cols + box_cols() - 1) >> box_col_bits;
    // Lines across a band follow each other through all of its boxes.
    const int64_t run = bands_are_rows == boxes_are_rows ? (bands_are_rows ? col_boxes : row_boxes) * box()
                        : bands_are_rows                 ? used_cols * box_rows()
                                                         : used_rows * box_cols();
    return {bands_are_rows ? row_boxes : col_boxes, run * element_bytes, pitch};
  }
};

constexpr AICORE uint8_t bits_of_power(int power_of_two) {
  uint8_t bits = 0;
  while ((1 << bits) < power_of_two) ++bits;
  return bits;
}

/// By value: device code has no address of a constant.
template <typename TileData>
constexpr PTO_INLINE AICORE TileOrder order_of() {
  constexpr bool kBoxed = TileData::isBoxedLayout;
  constexpr bool kBandsAreRows = TileData::isRowMajor;
  constexpr int kBoxRows = TileData::InnerRows;
  constexpr int kBoxCols = TileData::InnerCols;
  constexpr int kBand = !kBoxed         ? (kBandsAreRows ? TileData::Cols : TileData::Rows)
                        : kBandsAreRows ? TileData::Cols * kBoxRows
                                        : (TileData::Rows + kBoxRows - 1) / kBoxRows * kBoxRows * kBoxCols;
  return {TileData::Rows,
          TileData::Cols,
          kBand,
          bits_of_power(kBoxRows),
          bits_of_power(kBoxCols),
          sizeof(typename TileData::DType),
          kBoxed,
          kBandsAreRows,
          TileData::SFractal == pto::SLayout::RowMajor};
}

/// The same for a type, where the compiler is to know it.
template <typename TileData>
struct Storage {
  static constexpr PTO_INLINE AICORE int64_t offset(int64_t row, int64_t col) {
    constexpr TileOrder kOrder = order_of<TileData>();
    return kOrder.offset(row, col);
  }

  static constexpr PTO_INLINE AICORE Footprint footprint(int64_t rows, int64_t cols) {
    constexpr TileOrder kOrder = order_of<TileData>();
    return kOrder.footprint(rows, cols);
  }
};

}  // namespace baton::kernel
