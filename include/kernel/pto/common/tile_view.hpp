// A tile without its type: what checks, reports to the core and copies of bytes have to know of it. They are compiled
// once for a kernel, not once for each type of tile.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/storage.hpp>
#include <pto/target/core.hpp>

namespace baton::kernel {

struct TileView {
  unsigned char* data;
  int64_t room_bytes;  // from there to the end of the buffer
  int32_t valid_rows;
  int32_t valid_cols;
  TileOrder order;
  uint8_t loc;

  template <typename TileData>
  requires requires { TileData::Loc; }
  PTO_SHARED AICORE TileView(const TileData& tile)  // NOLINT(google-explicit-constructor): a tile is one
      : data(reinterpret_cast<unsigned char*>(tile.data())),
        room_bytes(tile.room_bytes()),
        valid_rows(tile.GetValidRow()),
        valid_cols(tile.GetValidCol()),
        loc(static_cast<uint8_t>(TileData::Loc)) {
    // One by one: as a whole, a constant is copied from memory, which takes a GPU longer than all the rest.
    constexpr TileOrder kOrder = order_of<TileData>();
    order.rows = kOrder.rows;
    order.cols = kOrder.cols;
    order.band = kOrder.band;
    order.box_row_bits = kOrder.box_row_bits;
    order.box_col_bits = kOrder.box_col_bits;
    order.element_bytes = kOrder.element_bytes;
    order.boxed = kOrder.boxed;
    order.bands_are_rows = kOrder.bands_are_rows;
    order.boxes_are_rows = kOrder.boxes_are_rows;
  }

  PTO_INLINE AICORE unsigned char* at(int64_t row, int64_t col) const {
    return data + order.offset(row, col) * order.element_bytes;
  }
  PTO_INLINE AICORE Footprint footprint() const { return order.footprint(valid_rows, valid_cols); }
  PTO_INLINE AICORE bool is_empty() const { return valid_rows == 0 || valid_cols == 0; }
};

/// rows x cols elements from (row, col) on, and what an instruction does to them.
struct TileUse {
  TileView tile;
  uint32_t access;
  int32_t row;
  int32_t col;
  int32_t rows;
  int32_t cols;
};

/// As the core is told of it; of boxed tiles from the box on in which it begins.
PTO_ONCE PTO_SHARED AICORE BatonTileRange range_of(const TileUse& use) {
  const TileOrder& order = use.tile.order;
  const int32_t row_in_box = use.row & (order.box_rows() - 1);
  const int32_t col_in_box = use.col & (order.box_cols() - 1);
  const bool empty = use.rows == 0 || use.cols == 0;
  const Footprint touched = order.footprint(empty ? 0 : use.rows + row_in_box, empty ? 0 : use.cols + col_in_box);
  return {use.tile.loc,
          use.access,
          use.tile.at(use.row - row_in_box, use.col - col_in_box),
          static_cast<uint64_t>(touched.runs),
          static_cast<uint64_t>(touched.run_bytes),
          static_cast<uint64_t>(touched.pitch_bytes)};
}

}  // namespace baton::kernel
