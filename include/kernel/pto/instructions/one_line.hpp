// One line of elements between memory and a tile of one row, as most transfers of most kernels are: with many lanes a
// few comparisons tell that nothing is wrong with it. Whatever is unusual goes the long way, which says what it is.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/transfer.hpp>
#include <pto/target/bulk_copy.hpp>

namespace baton::kernel {

/// Whether the type of a tensor says that it is one.
template <typename GlobalData>
inline constexpr bool is_one_line =
    GlobalData::layout == pto::Layout::ND&& GlobalData::staticShape[0] == 1 && GlobalData::staticShape[1] == 1 &&
    GlobalData::staticShape[2] == 1 && GlobalData::staticShape[3] == 1 && GlobalData::staticStride[4] == 1;

template <typename TileData, typename GlobalData>
inline constexpr bool moves_one_line = kManyLanes&& lies_in<TileData, pto::TileType::Vec>&& TileData::Rows == 1 &&
                                       TileData::isRowMajor && !TileData::isBoxedLayout && is_one_line<GlobalData> &&
                                       sizeof(typename TileData::DType) == sizeof(typename GlobalData::RawDType);

/// Whether a tile is in its place and holds `count` valid elements, all of its row.
template <typename TileData>
PTO_INLINE AICORE bool holds_line(const TileData& tile, int64_t count) {
  constexpr int64_t kWhole = int64_t{TileData::Cols} * int64_t{sizeof(typename TileData::DType)};
  return count > 0 && count <= TileData::Cols && tile.GetValidCol() == count && tile.GetValidRow() == 1 &&
         tile.data() != nullptr && kWhole <= tile.room_bytes();
}

PTO_INLINE AICORE bool is_known_memory(const void* begin, int64_t bytes) {
  BatonCore& core = current_core();
  return begin != nullptr && core.table->address_known(&core, begin, static_cast<uint64_t>(bytes), nullptr, 0) != 0;
}

/// Whether the line can be moved as it is.
template <typename TileData, typename GlobalData>
PTO_INLINE AICORE bool is_line_in_order(const TileData& tile, const GlobalData& tensor) {
  if (watching_core() != nullptr) return false;
  if (!kChecks) return true;
  const int64_t count = tensor.GetShape(4);
  return holds_line(tile, count) &&
         is_known_memory(tensor.data(), count * int64_t{sizeof(typename GlobalData::RawDType)});
}

/// `tile` = `memory`, started if hardware does it.
PTO_INLINE AICORE void load_line(unsigned char* tile, unsigned char* memory, int64_t bytes) {
  if (!start_line_load(tile, memory, bytes)) copy_lines(tile, bytes, memory, bytes, 1, bytes);
}
PTO_INLINE AICORE void store_line(unsigned char* memory, unsigned char* tile, int64_t bytes) {
  if (!start_line_store(memory, tile, bytes)) copy_lines(memory, bytes, tile, bytes, 1, bytes);
}

/// What TPUT and TGET may put pieces of a line into.
struct LineStage {
  unsigned char* tiles[2];
  int64_t bytes;  // of each
};

/// Whether a line of `count` elements may pass through a tile, in pieces if need be.
template <typename TileData>
PTO_INLINE AICORE bool can_stage(const TileData& tile, int64_t count) {
  const int64_t valid = tile.GetValidCol();
  return count > 0 && valid > 0 && (TileData::ValidCol == pto::DYNAMIC || valid == count) && holds_line(tile, valid);
}

/// A line of whole, aligned pieces of lanes. Past the tiles, of which a chip leaves nothing that is defined: so that no
/// kernel relies on them, they begin with other bytes then. Or through them, where hardware moves long lines.
PTO_OUTLINED AICORE inline void put_line(unsigned char* to, const unsigned char* from, LineStage stage, int64_t bytes) {
  if (copy_through(to, from, stage.tiles[0], stage.tiles[1], stage.bytes, bytes)) return;
  on_lanes<LanesWrite::memory>([=](Lanes lanes) {
    copy_wide_line_of_lane(lanes, reinterpret_cast<LaneBytes*>(to), reinterpret_cast<const LaneBytes*>(from),
                           static_cast<uint32_t>(bytes / kLaneBytes));
    if (!kChecks || lanes.lane != 0) return;
    constexpr LaneBytes kOther{{0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5}};
    *reinterpret_cast<LaneBytes*>(stage.tiles[0]) = kOther;
    *reinterpret_cast<LaneBytes*>(stage.tiles[1]) = kOther;
  });
}

}  // namespace baton::kernel
