// What every instruction asks of its tiles, and how it reports them to the core.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/order.hpp>
#include <pto/common/tile.hpp>
#include <pto/target/issue.hpp>

namespace baton::kernel {

constexpr AICORE const char* name_of(pto::TileType type) {
  constexpr const char* kNames[] = {"Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling"};
  return kNames[static_cast<int>(type)];
}

/// A tile that has a place and a valid region.
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
  if (rows < 1 || rows > TileData::Rows || cols < 1 || cols > TileData::Cols) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the valid size of ", name, " is ", rows, " x ", cols, ", the tile is ",
         TileData::Rows, " x ", TileData::Cols);
  }
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

template <typename First, typename Second>
AICORE void check_disjoint(const BatonPlace& place, const char* first_name, const First& first, const char* second_name,
                           const Second& second) {
  if (!kChecks || First::Loc != Second::Loc) return;
  const auto first_begin = reinterpret_cast<uintptr_t>(first.data());
  const auto second_begin = reinterpret_cast<uintptr_t>(second.data());
  constexpr uintptr_t kFirstBytes = First::Numel * sizeof(typename First::DType);
  constexpr uintptr_t kSecondBytes = Second::Numel * sizeof(typename Second::DType);
  if (first_begin + kFirstBytes <= second_begin || second_begin + kSecondBytes <= first_begin) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, first_name, " and ", second_name, " overlap");
}

/// The valid region of a tile. Of a boxed tile, all of it: boxes spread a region over the whole.
template <typename TileData>
AICORE BatonTileRange range_of(const TileData& tile, BatonAccess access) {
  constexpr uint64_t kBytes = sizeof(typename TileData::DType);
  const auto type = static_cast<uint32_t>(TileData::Loc);
  if constexpr (TileData::isBoxedLayout) {
    return {type, access, tile.data(), 1, TileData::Numel * kBytes, TileData::Numel * kBytes};
  } else if constexpr (TileData::isRowMajor) {
    return {type,
            access,
            tile.data(),
            static_cast<uint64_t>(tile.GetValidRow()),
            static_cast<uint64_t>(tile.GetValidCol()) * kBytes,
            TileData::Cols * kBytes};
  } else {
    return {type,
            access,
            tile.data(),
            static_cast<uint64_t>(tile.GetValidCol()),
            static_cast<uint64_t>(tile.GetValidRow()) * kBytes,
            TileData::Rows * kBytes};
  }
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
PTO_INLINE AICORE typename TileData::DType* element_at(const TileData& tile, int row, int col) {
  return tile.data() + static_cast<int64_t>(row) * TileData::RowStride +
         static_cast<int64_t>(col) * TileData::ColStride;
}

}  // namespace baton::kernel
