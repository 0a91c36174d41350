// What every instruction asks of its tiles, and how it reports them to the core.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/order.hpp>
#include <pto/common/storage.hpp>
#include <pto/common/tile.hpp>
#include <pto/target/issue.hpp>

namespace baton::kernel {

constexpr AICORE const char* name_of(pto::TileType type) {
  constexpr const char* kNames[] = {"Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling"};
  return kNames[static_cast<int>(type)];
}

/// The bytes of a tile's valid region.
template <typename TileData>
PTO_INLINE AICORE Footprint footprint_of(const TileData& tile) {
  return Storage<TileData>::footprint(tile.GetValidRow(), tile.GetValidCol());
}

/// A tile that has a place and a valid region, which may be empty, and which the buffer holds.
template <typename TileData>
AICORE void check_tile(const BatonPlace& place, const char* name, const TileData& tile) {
  if (!kChecks) return;
  if (tile.data() == nullptr) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, name, " has no place in the ", name_of(TileData::Loc),
         " buffer; call TASSIGN first");
  }
  const int rows = tile.GetValidRow();
  const int cols = tile.GetValidCol();
  if (rows == pto::DYNAMIC || cols == pto::DYNAMIC) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid size of ", name,
         " is not set; pass it to the constructor or call SetValidShape");
  }
  // The masks are public members: what the setters refuse can still be written there.
  if (rows < 0 || rows > TileData::Rows || cols < 0 || cols > TileData::Cols) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid size of ", name, " is ", rows, " x ", cols, ", the tile is ",
         TileData::Rows, " x ", TileData::Cols);
  }
  if (footprint_of(tile).reach() > tile.room_bytes()) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, name, " reaches over ", footprint_of(tile).reach(), " bytes, but the ",
         name_of(TileData::Loc), " buffer ends ", tile.room_bytes(), " bytes behind its beginning");
  }
}

/// A tile of which an instruction uses rows x cols elements, whatever its valid size.
template <typename TileData>
AICORE void check_region(const BatonPlace& place, const char* name, const TileData& tile, int64_t rows, int64_t cols) {
  if (!kChecks) return;
  if (tile.data() == nullptr) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, name, " has no place in the ", name_of(TileData::Loc),
         " buffer; call TASSIGN first");
  }
  if (rows > TileData::Rows || cols > TileData::Cols ||
      Storage<TileData>::footprint(rows, cols).reach() > tile.room_bytes()) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, rows, " x ", cols, " elements do not fit into ", name, ", which is ",
         TileData::Rows, " x ", TileData::Cols, " and begins ", tile.room_bytes(), " bytes before the end of the ",
         name_of(TileData::Loc), " buffer");
  }
}

/// A valid region with at least one element.
template <typename TileData>
AICORE void check_not_empty(const BatonPlace& place, const char* name, const TileData& tile) {
  if (!kChecks || (tile.GetValidRow() > 0 && tile.GetValidCol() > 0)) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid size of ", name, " is ", tile.GetValidRow(), " x ",
       tile.GetValidCol());
}

template <typename TileData>
PTO_INLINE AICORE bool is_empty(const TileData& tile) {
  return tile.GetValidRow() == 0 || tile.GetValidCol() == 0;
}

template <typename First, typename Second>
AICORE void check_same_valid(const BatonPlace& place, const char* first_name, const First& first,
                             const char* second_name, const Second& second) {
  if (!kChecks) return;
  if (first.GetValidRow() == second.GetValidRow() && first.GetValidCol() == second.GetValidCol()) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, "valid sizes differ: ", first_name, " ", first.GetValidRow(), " x ",
       first.GetValidCol(), ", ", second_name, " ", second.GetValidRow(), " x ", second.GetValidCol());
}

AICORE inline void check_equal(const BatonPlace& place, const char* first_name, int64_t first, const char* second_name,
                               int64_t second) {
  if (!kChecks || first == second) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, first_name, " is ", first, ", but ", second_name, " is ", second);
}

/// Whether two regions share a byte.
AICORE inline bool share_bytes(const BatonTileRange& first, const BatonTileRange& second) {
  if (first.tile_type != second.tile_type || first.rows == 0 || second.rows == 0) return false;
  const auto a = reinterpret_cast<uintptr_t>(first.address);
  const auto b = reinterpret_cast<uintptr_t>(second.address);
  const uintptr_t a_end = a + (first.rows - 1) * first.pitch_bytes + first.row_bytes;
  const uintptr_t b_end = b + (second.rows - 1) * second.pitch_bytes + second.row_bytes;
  if (a_end <= b || b_end <= a) return false;
  // Between each other's lines there may be room: columns of one matrix.
  for (uint64_t i = 0; i < first.rows; ++i) {
    const uintptr_t begin = a + i * first.pitch_bytes;
    const uintptr_t end = begin + first.row_bytes;
    if (end <= b || begin >= b_end) continue;
    // The last line of the other one that begins before this one ends; earlier ones end earlier.
    const uintptr_t reach = (end < b_end ? end : b_end) - 1 - b;
    if (b + reach / second.pitch_bytes * second.pitch_bytes + second.row_bytes > begin) return true;
  }
  return false;
}

AICORE inline void check_apart(const BatonPlace& place, const char* first_name, const BatonTileRange& first,
                               const char* second_name, const BatonTileRange& second) {
  if (!kChecks || !share_bytes(first, second)) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, first_name, " and ", second_name, " overlap");
}

/// rows x cols elements from (row, col) on, as the core is told of them; of boxed tiles from the box on in which they
/// begin.
template <typename TileData>
AICORE BatonTileRange region_of(const TileData& tile, uint32_t access, int64_t row, int64_t col, int64_t rows,
                                int64_t cols) {
  const int64_t row_in_box = row % TileData::InnerRows;
  const int64_t col_in_box = col % TileData::InnerCols;
  const Footprint touched = rows == 0 || cols == 0 ? Storage<TileData>::footprint(0, 0)
                                                   : Storage<TileData>::footprint(rows + row_in_box, cols + col_in_box);
  return {static_cast<uint32_t>(TileData::Loc),
          access,
          tile.data() + Storage<TileData>::offset(row - row_in_box, col - col_in_box),
          static_cast<uint64_t>(touched.runs),
          static_cast<uint64_t>(touched.run_bytes),
          static_cast<uint64_t>(touched.pitch_bytes)};
}

/// The valid region of a tile, as the core is told of it.
template <typename TileData>
PTO_INLINE AICORE BatonTileRange range_of(const TileData& tile, uint32_t access) {
  return region_of(tile, access, 0, 0, tile.GetValidRow(), tile.GetValidCol());
}

template <typename TileData>
PTO_INLINE AICORE BatonTileRange reads(const TileData& tile) {
  return range_of(tile, BATON_READS);
}

template <typename TileData>
PTO_INLINE AICORE BatonTileRange writes(const TileData& tile) {
  return range_of(tile, BATON_WRITES);
}

/// The address of element (row, column).
template <typename TileData>
PTO_INLINE AICORE typename TileData::DType* element_at(const TileData& tile, int64_t row, int64_t col) {
  return tile.data() + Storage<TileData>::offset(row, col);
}

}  // namespace baton::kernel
