// What every instruction asks of its tiles, and how it reports them to the core. Nothing here is a template over tiles:
// an instruction makes views of them and calls.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/order.hpp>
#include <pto/common/tile.hpp>
#include <pto/common/tile_view.hpp>
#include <pto/target/issue.hpp>

namespace baton::kernel {

AICORE inline const char* name_of(uint32_t tile_type) {
  constexpr const char* kNames[] = {"Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling"};
  return kNames[tile_type];
}

// What reports takes copies: an operand whose address is handed on stays in memory, and on a GPU memory is slow.
PTO_ONCE [[noreturn]] PTO_COLD AICORE void fail_without_place(BatonPlace place, const char* name, TileView tile) {
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, name, " has no place in the ", name_of(tile.loc),
       " buffer; call TASSIGN first");
}

/// Says what is wrong with a tile that is_usable() refused.
PTO_ONCE [[noreturn]] PTO_COLD AICORE void fail_unusable(BatonPlace place, const char* name, TileView tile) {
  const int rows = tile.valid_rows;
  const int cols = tile.valid_cols;
  if (tile.data == nullptr) fail_without_place(place, name, tile);
  if (rows == pto::DYNAMIC || cols == pto::DYNAMIC) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid size of ", name,
         " is not set; pass it to the constructor or call SetValidShape");
  }
  // The masks are public members: what the setters refuse can still be written there.
  if (rows < 0 || rows > tile.order.rows || cols < 0 || cols > tile.order.cols) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid size of ", name, " is ", rows, " x ", cols, ", the tile is ",
         tile.order.rows, " x ", tile.order.cols);
  }
  fail(place, BATON_KERNEL_OUT_OF_RANGE, name, " reaches over ", tile.footprint().reach(), " bytes, but the ",
       name_of(tile.loc), " buffer ends ", tile.room_bytes, " bytes behind its beginning");
}

/// Whether a tile has a place and a valid region, which may be empty, and which the buffer holds: mostly all of it.
PTO_INLINE AICORE bool is_usable(const TileView& tile) {
  const TileOrder& order = tile.order;
  const bool holds_all = !order.boxed && int64_t{order.rows} * order.cols * order.element_bytes <= tile.room_bytes;
  return tile.data != nullptr && static_cast<uint32_t>(tile.valid_rows) <= static_cast<uint32_t>(order.rows) &&
         static_cast<uint32_t>(tile.valid_cols) <= static_cast<uint32_t>(order.cols) &&
         (holds_all || tile.footprint().reach() <= tile.room_bytes);
}

PTO_ONCE PTO_SHARED AICORE void check_tile(const BatonPlace& place, const char* name, const TileView& tile) {
  if (kChecks && !is_usable(tile)) fail_unusable(place, name, tile);
}

/// A tile of which an instruction uses rows x cols elements, whatever its valid size.
PTO_ONCE PTO_SHARED AICORE void check_region(const BatonPlace& place, const char* name, const TileView& tile,
                                             int64_t rows, int64_t cols) {
  if (!kChecks) return;
  if (tile.data == nullptr) fail_without_place(place, name, tile);
  if (rows > tile.order.rows || cols > tile.order.cols || tile.order.footprint(rows, cols).reach() > tile.room_bytes) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, rows, " x ", cols, " elements do not fit into ", name, ", which is ",
         tile.order.rows, " x ", tile.order.cols, " and begins ", tile.room_bytes, " bytes before the end of the ",
         name_of(tile.loc), " buffer");
  }
}

/// A valid region with at least one element.
PTO_ONCE PTO_SHARED AICORE void check_not_empty(const BatonPlace& place, const char* name, const TileView& tile) {
  if (!kChecks || (tile.valid_rows > 0 && tile.valid_cols > 0)) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid size of ", name, " is ", tile.valid_rows, " x ",
       tile.valid_cols);
}

template <typename TileData>
PTO_INLINE AICORE bool is_empty(const TileData& tile) {
  return tile.GetValidRow() == 0 || tile.GetValidCol() == 0;
}

PTO_ONCE [[noreturn]] PTO_COLD AICORE void fail_valid_sizes(BatonPlace place, const char* first_name, TileView first,
                                                            const char* second_name, TileView second) {
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, "valid sizes differ: ", first_name, " ", first.valid_rows, " x ",
       first.valid_cols, ", ", second_name, " ", second.valid_rows, " x ", second.valid_cols);
}
PTO_INLINE AICORE bool have_same_valid(const TileView& first, const TileView& second) {
  return first.valid_rows == second.valid_rows && first.valid_cols == second.valid_cols;
}
PTO_INLINE AICORE void check_same_valid(const BatonPlace& place, const char* first_name, const TileView& first,
                                        const char* second_name, const TileView& second) {
  if (!kChecks || have_same_valid(first, second)) return;
  fail_valid_sizes(place, first_name, first, second_name, second);
}

PTO_ONCE PTO_SHARED AICORE void check_equal(const BatonPlace& place, const char* first_name, int64_t first,
                                            const char* second_name, int64_t second) {
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

PTO_ONCE PTO_SHARED AICORE void check_apart(const BatonPlace& place, const char* first_name, const TileUse& first,
                                            const char* second_name, const TileUse& second) {
  if (!kChecks || !share_bytes(range_of(first), range_of(second))) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, first_name, " and ", second_name, " overlap");
}

/// A part of a tile: rows x cols elements from (row, col) on.
PTO_INLINE AICORE TileUse region_of(const TileView& tile, uint32_t access, int64_t row, int64_t col, int64_t rows,
                                    int64_t cols) {
  return {tile,
          access,
          static_cast<int32_t>(row),
          static_cast<int32_t>(col),
          static_cast<int32_t>(rows),
          static_cast<int32_t>(cols)};
}

/// The valid region of a tile.
PTO_INLINE AICORE TileUse use_of(const TileView& tile, uint32_t access) {
  return {tile, access, 0, 0, tile.valid_rows, tile.valid_cols};
}
PTO_INLINE AICORE TileUse reads(const TileView& tile) { return use_of(tile, BATON_READS); }
PTO_INLINE AICORE TileUse writes(const TileView& tile) { return use_of(tile, BATON_WRITES); }

/// Tells a core that watches. `uses` are at most six: no instruction has more tiles.
PTO_ONCE PTO_COLD AICORE void tell(BatonCore& core, const BatonPlace& place, uint32_t pipes, const TileUse* uses,
                                   uint32_t use_count, const BatonGlobalRange* globals, uint32_t global_count) {
  BatonTileRange tiles[6];
  for (uint32_t i = 0; i < use_count; ++i) tiles[i] = range_of(uses[i]);
  const BatonIssue issue{&place, pipes, use_count, tiles, globals, global_count, 0};
  core.table->issue(&core, &issue);
}

/// Tile operands only.
template <typename... Uses>
PTO_INLINE AICORE void issue(const BatonPlace& place, uint32_t pipes, const Uses&... uses) {
  static_assert(sizeof...(Uses) <= 6);
  BatonCore* const core = watching_core();
  if (core == nullptr) return;
  const TileUse all[] = {uses...};
  tell(*core, place, pipes, all, sizeof...(Uses), nullptr, 0);
}

/// The address of element (row, column).
template <typename TileData>
PTO_INLINE AICORE typename TileData::DType* element_at(const TileData& tile, int64_t row, int64_t col) {
  return tile.data() + Storage<TileData>::offset(row, col);
}

}  // namespace baton::kernel
