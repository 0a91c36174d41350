// Lines of elements between memory and a tile of rows, as most transfers of most kernels are: with many lanes a few
// comparisons tell that nothing is wrong with them. Whatever is unusual goes the long way, which says what it is.
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

/// Whether the type says that it is rows of a matrix.
template <typename GlobalData>
inline constexpr bool is_block =
    GlobalData::layout == pto::Layout::ND&& GlobalData::staticShape[0] == 1 && GlobalData::staticShape[1] == 1 &&
    GlobalData::staticShape[2] == 1 && GlobalData::staticStride[4] == 1;

template <typename TileData, typename GlobalData>
inline constexpr bool moves_block =
    kManyLanes&& lies_in<TileData, pto::TileType::Vec>&& TileData::isRowMajor && !TileData::isBoxedLayout &&
    is_block<GlobalData> && sizeof(typename TileData::DType) == sizeof(typename GlobalData::RawDType);

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

/// The rows of a tensor that is_block.
struct BlockOfRows {
  int64_t rows;
  int64_t cols;
  int64_t pitch;  // elements

  template <typename GlobalData>
  PTO_INLINE AICORE explicit BlockOfRows(const GlobalData& tensor)
      : rows(GlobalData::staticShape[3] == 1 ? 1 : tensor.GetShape(3)),
        cols(tensor.GetShape(4)),
        pitch(GlobalData::staticShape[3] == 1 ? cols : tensor.GetStride(3)) {}
};

/// Whether they can be moved as they are: no two of them share bytes, they fill the valid region of the tile, which has
/// its place, and the kernel may touch them.
template <typename TileData, typename GlobalData>
PTO_INLINE AICORE bool is_block_in_order(const TileData& tile, const GlobalData& tensor, const BlockOfRows& block) {
  constexpr int64_t kElement = sizeof(typename TileData::DType);
  constexpr int64_t kWhole = int64_t{TileData::Rows} * TileData::Cols * kElement;
  constexpr uint64_t kLongestPitch = uint64_t{1} << 40;
  if (is_watched()) return false;
  const bool are_apart =
      block.rows == 1 || (block.pitch >= block.cols && static_cast<uint64_t>(block.pitch) < kLongestPitch);
  if (!kChecks) return are_apart;
  return are_apart && static_cast<uint64_t>(block.rows) - 1 < uint64_t{TileData::Rows} &&
         static_cast<uint64_t>(block.cols) - 1 < uint64_t{TileData::Cols} && tile.GetValidRow() == block.rows &&
         tile.GetValidCol() == block.cols && tile.data() != nullptr && kWhole <= tile.room_bytes() &&
         is_known_memory(tensor.data(), ((block.rows - 1) * block.pitch + block.cols) * kElement);
}

template <typename TileData>
PTO_INLINE AICORE bool has_no_gaps(const BlockOfRows& block) {
  return block.rows == 1 || (block.cols == TileData::Cols && block.pitch == block.cols);
}
template <typename TileData>
PTO_INLINE AICORE LineCopy copy_of(const TileData& tile, unsigned char* memory, const BlockOfRows& block) {
  constexpr int64_t kElement = sizeof(typename TileData::DType);
  return {reinterpret_cast<unsigned char*>(tile.data()),
          TileData::Cols * kElement,
          memory,
          block.pitch * kElement,
          block.rows,
          block.cols * kElement};
}

/// `tile` = `memory`, started if hardware does it.
template <typename TileData>
PTO_INLINE AICORE void load_block(const TileData& tile, unsigned char* memory, const BlockOfRows& block) {
  const LineCopy copy = copy_of(tile, memory, block);
  const bool started =
      has_no_gaps<TileData>(block) ? start_line_load(copy.tile, memory, copy.lines * copy.bytes) : start_load(copy);
  if (!started) copy_lines_outlined(copy, Way::to_tile);
}
template <typename TileData>
PTO_INLINE AICORE void store_block(unsigned char* memory, const TileData& tile, const BlockOfRows& block) {
  const LineCopy copy = copy_of(tile, memory, block);
  const bool started =
      has_no_gaps<TileData>(block) ? start_line_store(memory, copy.tile, copy.lines * copy.bytes) : start_store(copy);
  if (!started) copy_lines_outlined(copy, Way::from_tile);
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
