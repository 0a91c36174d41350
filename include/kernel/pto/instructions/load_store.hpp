// TLOAD and TSTORE: between global memory and tiles.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/events.hpp>
#include <pto/instructions/far_access.hpp>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/matrix_tiles.hpp>
#include <pto/instructions/one_line.hpp>
#include <pto/instructions/transfer.hpp>

namespace baton::kernel {

/// Whether a tile of this kind and a tensor of this layout exchange bytes line by line.
template <typename TileData, typename GlobalData, bool kIsStore>
constexpr AICORE bool layouts_match() {
  constexpr pto::Layout kLayout = GlobalData::layout;
  constexpr bool kOneLine = TileData::Rows == 1 || TileData::Cols == 1;
  if (TileData::isBoxedLayout) {
    constexpr bool kBoxesAreRows = TileData::SFractal == pto::SLayout::RowMajor;
    if (kLayout == pto::Layout::NZ) return lies_in<TileData, pto::TileType::Vec, pto::TileType::Mat> && kBoxesAreRows;
    if (lies_in<TileData, pto::TileType::Acc>) return kLayout == pto::Layout::ND;
    return lies_in<TileData, pto::TileType::Mat> && (kLayout == pto::Layout::ND) == kBoxesAreRows &&
           TileData::isRowMajor != kBoxesAreRows;
  }
  if (kLayout == pto::Layout::NZ || lies_in<TileData, pto::TileType::Acc>) return false;
  return (kLayout == pto::Layout::ND) == TileData::isRowMajor || (kIsStore && kOneLine);
}

template <typename GlobalData>
inline constexpr bool leading_shapes_are_one =
    GlobalData::staticShape[0] == 1 && GlobalData::staticShape[1] == 1 && GlobalData::staticShape[2] == 1;

template <typename TileData, typename GlobalData, bool kIsStore>
constexpr AICORE void require_transfer() {
  static_assert(TileData::Rows <= 4095 || lies_in<TileData, pto::TileType::Mat>,
                "TLOAD, TSTORE: a tile has at most 4095 rows");
  static_assert(TileData::Rows <= 16384, "TLOAD, TSTORE: a Mat tile has at most 16384 rows");
  static_assert(
      layouts_match<TileData, GlobalData, kIsStore>(),
      "TLOAD, TSTORE: layouts do not match (ND goes with row-major tiles, DN with column-major ones; with boxes "
      "inside of Mat alike, if their bands go the other way)");
  static_assert(!lies_in<TileData, pto::TileType::Mat> || !TileData::isBoxedLayout ||
                    GlobalData::layout == pto::Layout::NZ || leading_shapes_are_one<GlobalData>,
                "TLOAD, TSTORE: a boxed Mat tile takes a tensor whose first three sizes are 1 in its type");
}

/// True if the tensor is on another host.
PTO_ONCE PTO_SHARED AICORE bool begin_transfer(const BatonPlace& place, uint32_t pipes, const TileView& tile,
                                               const GlobalView& tensor, Way way, uint32_t atomic = 0) {
  const char* const tile_name = way == Way::to_tile ? "dst" : "src";
  check_tile(place, tile_name, tile);
  check_not_empty(place, tile_name, tile);
  check_extents(place, tensor.extents);
  check_inner_stride(place, tensor.layout, tensor.extents);
  const int64_t rows = rows_of(tensor.layout, tensor.extents);
  const int64_t cols = cols_of(tensor.layout, tensor.extents);
  if (kChecks && (rows != tile.valid_rows || cols != tile.valid_cols)) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the tensor is ", rows, " x ", cols, ", the valid region of the tile ",
         tile.valid_rows, " x ", tile.valid_cols);
  }
  const bool is_far = check_access(place, way == Way::to_tile ? "src" : "dst", tensor);
  issue_transfer(place, pipes, way == Way::to_tile ? writes(tile) : reads(tile), tensor,
                 way == Way::to_tile ? uint32_t{BATON_READS} : BATON_WRITES | atomic);
  return is_far;
}

PTO_OUTLINED AICORE inline void poison_on_lanes(TileView tile, int pattern, int bytes) {
  on_lanes([=](Lanes lanes) {
    const bool by_rows = lies_in_rows(tile.order);
    for_cells(lanes, static_cast<uint32_t>(by_rows ? tile.valid_rows : tile.valid_cols), static_cast<uint32_t>(bytes),
              [&](uint32_t line, uint32_t byte) PTO_INLINE_LAMBDA {
                (by_rows ? tile.at(line, tile.valid_cols) : tile.at(tile.valid_rows, line))[byte] =
                    static_cast<unsigned char>(pattern);
              });
  });
}

/// A transfer moves blocks of 32 bytes. Makes what lies behind the valid region in the last block of each line unlike
/// any data: NaN, or, of integers, a conspicuous number. What lies beyond is another tile's, or as undefined as it was.
PTO_ONCE PTO_SHARED AICORE void poison_last_blocks(const TileView& tile, int pattern) {
  if (!kChecks) return;
  const bool by_rows = lies_in_rows(tile.order);
  const int block = pto::BLOCK_BYTE_SIZE / tile.order.element_bytes;
  const int valid = by_rows ? tile.valid_cols : tile.valid_rows;
  const int lines = by_rows ? tile.valid_rows : tile.valid_cols;
  const int rest = (block - valid % block) % block;
  if (rest == 0) return;
  if (kManyLanes) {
    poison_on_lanes(tile, pattern, rest * tile.order.element_bytes);
  } else {
    for (int line = 0; line < lines; ++line) {
      unsigned char* behind = by_rows ? tile.at(line, valid) : tile.at(valid, line);
      memset(behind, pattern, static_cast<size_t>(rest) * tile.order.element_bytes);
    }
  }
}

PTO_OUTLINED AICORE inline void poison_outlined(TileView tile, int pattern) { poison_last_blocks(tile, pattern); }

template <typename Element>
inline constexpr int poison_of = is_whole<Element> ? 0xa5 : 0xff;

/// The pipe on which a tile is stored.
template <typename TileData>
constexpr AICORE int store_pipe() {
  return lies_in<TileData, pto::TileType::Acc> ? PIPE_FIX : PIPE_MTE3;
}

PTO_ONCE PTO_SHARED AICORE void load_tile(Where where, const TileView& dst, GlobalView src, int poison) {
  const BatonPlace place = place_of("TLOAD", where);
  const bool is_far = begin_transfer(place, pipe_bit(PIPE_MTE2), dst, src, Way::to_tile);
  if (kFarMemory && is_far) src.data = bring_near(place, src, BATON_READS);
  if (!start_copy(dst, src, Way::to_tile)) copy_bytes(dst, src, Way::to_tile);
  poison_last_blocks(dst, poison);
}

/// Where a few comparisons were not enough: out of the way of where they are.
template <typename TileData, typename GlobalData>
PTO_OUTLINED AICORE void load_the_long_way(TileData dst, GlobalData src, Where where) {
  load_tile(where, dst, view_of(src), poison_of<typename TileData::DType>);
}

/// What the matrix unit might have served: out of the way of what it does.
template <typename TileData, typename GlobalData>
PTO_OUTLINED AICORE void load_where_it_lies(TileData dst, GlobalData src, Where where) {
  settle_matrices();
  load_tile(where, dst, view_of(src), poison_of<typename TileData::DType>);
}

template <typename TileData, typename GlobalData>
PTO_INLINE AICORE void load(TileData& dst, GlobalData& src, Where where) {
  static_assert(lies_in<TileData, pto::TileType::Vec, pto::TileType::Mat>, "TLOAD takes a Vec or Mat tile");
  static_assert(sizeof(typename TileData::DType) == sizeof(typename GlobalData::RawDType),
                "TLOAD: element sizes differ");
  require_transfer<TileData, GlobalData, false>();
  if constexpr (moves_block<TileData, GlobalData>) {
    const BlockOfRows block(src);
    if (!is_block_in_order(dst, src, block)) return load_the_long_way(dst, src, where);
    load_block(dst, reinterpret_cast<unsigned char*>(data_of(src)), block);
    constexpr int kPoison = poison_of<typename TileData::DType>;
    constexpr int64_t kElement = sizeof(typename TileData::DType);
    if (kChecks && block.cols * kElement % pto::BLOCK_BYTE_SIZE != 0) poison_outlined(dst, kPoison);
    return;
  }
  if constexpr (kMatrixUnit && lies_in<TileData, pto::TileType::Mat>) {
    if (!load_operand(dst, src)) [[unlikely]]
      load_where_it_lies(dst, src, where);
    return;
  }
  load_tile(where, dst, view_of(src), poison_of<typename TileData::DType>);
}

PTO_ONCE PTO_SHARED AICORE void store_bytes(const TileView& tile, const GlobalView& tensor) {
  if (!start_copy(tile, tensor, Way::from_tile)) copy_bytes(tile, tensor, Way::from_tile);
}

/// Copies, converts or adds the tile's valid region to a tensor; all is checked.
template <pto::AtomicType atomic, typename Element, typename Stored>
PTO_INLINE AICORE void store_elements(const TileView& tile, const GlobalView& tensor, bool from_accumulator) {
  if constexpr (atomic == pto::AtomicType::AtomicAdd) {
    finish_copies();
    add_elements<Element, Stored>(tile, tensor);
  } else if constexpr (std::is_same_v<Element, Stored>) {
    store_bytes(tile, tensor);
  } else if constexpr (sizeof(Element) == sizeof(Stored)) {
    // Accumulators are converted, other bytes are copied.
    if (from_accumulator) return convert_elements<Element, Stored>(tile, tensor);
    store_bytes(tile, tensor);
  } else {
    convert_elements<Element, Stored>(tile, tensor);
  }
}

template <pto::AtomicType atomic, typename GlobalData, typename TileData>
AICORE void store_tile(GlobalData& dst, TileData& src, Where where) {
  using Element = typename GlobalData::RawDType;
  using Stored = typename TileData::DType;
  const TileView tile(src);
  GlobalView tensor = view_of(dst);
  const BatonPlace place = place_of("TSTORE", where);
  constexpr uint32_t kAtomic = atomic == pto::AtomicType::AtomicAdd ? uint32_t{BATON_ATOMIC} : uint32_t{0};
  const bool is_far = begin_transfer(place, pipe_bit(store_pipe<TileData>()), tile, tensor, Way::from_tile, kAtomic);
  const unsigned char* const there = tensor.data;
  if (kFarMemory && is_far) tensor.data = bring_near(place, tensor, write_access<Element, atomic>());
  if (store_accumulator<atomic, Element>(src, tensor)) return;
  settle_tiles<TileData>();
  store_elements<atomic, Element, Stored>(tile, tensor, lies_in<TileData, pto::TileType::Acc>);
  if (kFarMemory && is_far) send_back(place, tensor, there, write_access<Element, atomic>());
}

template <pto::AtomicType atomic, typename GlobalData, typename TileData>
PTO_OUTLINED AICORE void store_the_long_way(GlobalData dst, TileData src, Where where) {
  store_tile<atomic>(dst, src, where);
}

template <pto::AtomicType atomic, typename GlobalData, typename TileData>
PTO_INLINE AICORE void store(GlobalData& dst, TileData& src, Where where) {
  using Element = typename GlobalData::RawDType;
  using Stored = typename TileData::DType;
  static_assert(!std::is_const_v<typename GlobalData::DType>, "TSTORE: the tensor is const");
  static_assert(lies_in<TileData, pto::TileType::Vec, pto::TileType::Mat, pto::TileType::Acc>,
                "TSTORE takes a Vec, Mat or Acc tile");
  if constexpr (lies_in<TileData, pto::TileType::Acc>) {
    static_assert(is_one_of<Stored, float, int32_t> && is_one_of<Element, float, int32_t, half, bfloat16_t>,
                  "TSTORE from Acc: float or int32 to float, int32, half or bfloat16");
  } else {
    static_assert(sizeof(Stored) == sizeof(Element), "TSTORE: element sizes differ");
  }
  if constexpr (atomic == pto::AtomicType::AtomicAdd) {
    static_assert(is_atomic_number<Element>, "TSTORE with AtomicAdd: half, float, bfloat16, int8, int16 or int32");
    static_assert(lies_in<TileData, pto::TileType::Acc> || std::is_same_v<Stored, Element>,
                  "TSTORE with AtomicAdd: element types differ");
  }
  require_transfer<TileData, GlobalData, true>();
  if constexpr (moves_block<TileData, GlobalData> && atomic == pto::AtomicType::AtomicNone) {
    const BlockOfRows block(dst);
    if (!is_block_in_order(src, dst, block)) return store_the_long_way<atomic>(dst, src, where);
    return store_block(reinterpret_cast<unsigned char*>(data_of(dst)), src, block);
  }
  store_tile<atomic>(dst, src, where);
}

}  // namespace baton::kernel

namespace pto {

template <typename TileData, typename GlobalData>
AICORE RecordEvent TLOAD(TileData& dst, GlobalData& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::load(dst, src, where);
  return {};
}
PTO_WITH_EVENTS(TLOAD)

template <typename TileData, typename GlobalData, AtomicType atomic = AtomicType::AtomicNone>
AICORE RecordEvent TSTORE(GlobalData& dst, TileData& src,
                          baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::store<atomic>(dst, src, where);
  return {};
}
template <typename TileData, typename GlobalData, AtomicType atomic = AtomicType::AtomicNone,
          baton::kernel::Event... Events>
requires(sizeof...(Events) > 0) AICORE RecordEvent TSTORE(GlobalData& dst, TileData& src, Events&... events) {
  (events.Wait(), ...);
  return TSTORE<TileData, GlobalData, atomic>(dst, src, baton::kernel::Where::unknown());
}

}  // namespace pto
