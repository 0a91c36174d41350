// TLOAD and TSTORE: between global memory and tiles.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/events.hpp>
#include <pto/instructions/global_access.hpp>
#include <pto/instructions/numbers.hpp>
#include <pto/instructions/tile_lines.hpp>
#include <pto/target/atomics.hpp>

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
AICORE void check_transfer(const BatonPlace& place, const TileData& tile, const GlobalData& tensor,
                           const Extents& extents) {
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
  check_tile(place, kIsStore ? "src" : "dst", tile);
  check_not_empty(place, kIsStore ? "src" : "dst", tile);
  check_extents(place, extents);
  check_inner_stride<GlobalData::layout>(place, extents);
  const int64_t rows = rows_of<GlobalData::layout>(extents);
  const int64_t cols = cols_of<GlobalData::layout>(extents);
  if (kChecks && (rows != tile.GetValidRow() || cols != tile.GetValidCol())) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the tensor is ", rows, " x ", cols, ", the valid region of the tile ",
         tile.GetValidRow(), " x ", tile.GetValidCol());
  }
  check_access(place, kIsStore ? "dst" : "src", data_of(tensor), extents);
}

/// Calls body(address, done, count) for the runs of the line-th line of the transfer in the tile.
template <pto::Layout layout, typename TileData, typename Body>
PTO_INLINE AICORE void for_runs_of_line(const TileData& tile, int64_t line, int64_t first, int64_t count, Body body) {
  if constexpr (layout == pto::Layout::DN) {
    for_runs_of_col(tile, 0, line, count, body);
  } else {
    for_runs_of_row(tile, line, first, count, body);
  }
}

/// A transfer moves blocks of 32 bytes. Makes what lies behind the valid region in the last block of each line unlike
/// any data: NaN, or a conspicuous number. What lies beyond is another tile's, or as undefined as it was.
template <typename TileData>
AICORE void poison_last_blocks(const TileData& tile) {
  if (!kChecks) return;
  using Element = typename TileData::DType;
  constexpr bool kByRows = lies_by_rows<TileData>;
  constexpr int kBlock = pto::BLOCK_BYTE_SIZE / int{sizeof(Element)};
  constexpr int kPattern = is_whole<Element> ? 0xa5 : 0xff;
  const int valid = kByRows ? tile.GetValidCol() : tile.GetValidRow();
  const int lines = kByRows ? tile.GetValidRow() : tile.GetValidCol();
  const int rest = (kBlock - valid % kBlock) % kBlock;
  if (rest == 0) return;
  for (int line = 0; line < lines; ++line) {
    Element* behind = kByRows ? element_at(tile, line, valid) : element_at(tile, valid, line);
    memset(static_cast<void*>(behind), kPattern, static_cast<size_t>(rest) * sizeof(Element));
  }
}

/// Whether tile and tensor are the same run of elements.
template <pto::Layout layout, typename TileData>
AICORE bool is_without_gaps(const TileData& tile, const Extents& extents) {
  if (TileData::isBoxedLayout) return false;
  const bool tile_has_none = TileData::ColStride == 1 ? tile.GetValidCol() == TileData::Cols || tile.GetValidRow() == 1
                                                      : tile.GetValidRow() == TileData::Rows || tile.GetValidCol() == 1;
  return tile_has_none && is_packed<layout>(extents);
}

/// Copies a tensor into the tile's valid region; all is checked.
template <pto::Layout layout, typename TileData, typename Element>
AICORE void copy_to_tile(const TileData& tile, const Element* data, const Extents& extents) {
  if (is_without_gaps<layout>(tile, extents)) {
    const auto count = static_cast<size_t>(tile.GetValidRow()) * static_cast<size_t>(tile.GetValidCol());
    memcpy(static_cast<void*>(tile.data()), static_cast<const void*>(data), count * sizeof(Element));
    return;
  }
  const int64_t length = extents.shape[inner_dimension(layout)];
  for_each_line<layout>(extents, [&](int64_t line, int64_t first, int64_t offset) {
    for_runs_of_line<layout>(tile, line, first, length, [&](auto* at, int64_t done, int64_t count) PTO_INLINE_LAMBDA {
      memcpy(static_cast<void*>(at), static_cast<const void*>(data + offset + done),
             static_cast<size_t>(count) * sizeof(Element));
    });
  });
}

/// What becomes of elements whose type is not the tensor's: accumulators are converted, other bytes are copied.
enum class OtherTypes { copied, converted };

template <pto::AtomicType atomic, OtherTypes others, typename Target, typename Source>
PTO_INLINE AICORE void store_line(Target* target, const Source* source, int64_t count) {
  if constexpr (atomic == pto::AtomicType::AtomicAdd) {
    for (int64_t i = 0; i < count; ++i) atomic_update(target + i, stored_as<Target>(source[i]), AddNumbers{});
  } else if constexpr (std::is_same_v<Target, Source> || others == OtherTypes::copied) {
    memcpy(static_cast<void*>(target), static_cast<const void*>(source), static_cast<size_t>(count) * sizeof(Target));
  } else {
    for (int64_t i = 0; i < count; ++i) target[i] = stored_as<Target>(source[i]);
  }
}

/// Copies, or adds, the tile's valid region to a tensor; all is checked.
template <pto::Layout layout, pto::AtomicType atomic, typename TileData, typename Element>
AICORE void copy_from_tile(const TileData& tile, Element* data, const Extents& extents) {
  constexpr OtherTypes kOthers = lies_in<TileData, pto::TileType::Acc> ? OtherTypes::converted : OtherTypes::copied;
  if (is_without_gaps<layout>(tile, extents)) {
    store_line<atomic, kOthers>(data, tile.data(), int64_t{tile.GetValidRow()} * tile.GetValidCol());
    return;
  }
  const int64_t length = extents.shape[inner_dimension(layout)];
  for_each_line<layout>(extents, [&](int64_t line, int64_t first, int64_t offset) {
    for_runs_of_line<layout>(tile, line, first, length, [&](auto* at, int64_t done, int64_t count) PTO_INLINE_LAMBDA {
      store_line<atomic, kOthers>(data + offset + done, at, count);
    });
  });
}

/// The pipe on which a tile is stored.
template <typename TileData>
constexpr AICORE int store_pipe() {
  return lies_in<TileData, pto::TileType::Acc> ? PIPE_FIX : PIPE_MTE3;
}

template <typename TileData, typename GlobalData>
AICORE void load(TileData& dst, GlobalData& src, Where where) {
  using Element = typename GlobalData::RawDType;
  static_assert(lies_in<TileData, pto::TileType::Vec, pto::TileType::Mat>, "TLOAD takes a Vec or Mat tile");
  static_assert(sizeof(typename TileData::DType) == sizeof(Element), "TLOAD: element sizes differ");
  const BatonPlace place = place_of("TLOAD", where);
  const Extents extents = extents_of(src);
  check_transfer<TileData, GlobalData, false>(place, dst, src, extents);
  issue_with_tile(place, pipe_bit(PIPE_MTE2), writes(dst), range_of(data_of(src), extents, BATON_READS));
  copy_to_tile<GlobalData::layout>(dst, data_of(src), extents);
  poison_last_blocks(dst);
}

template <pto::AtomicType atomic, typename GlobalData, typename TileData>
AICORE void store(GlobalData& dst, TileData& src, Where where) {
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
  const BatonPlace place = place_of("TSTORE", where);
  const Extents extents = extents_of(dst);
  check_transfer<TileData, GlobalData, true>(place, src, dst, extents);
  issue_with_tile(place, pipe_bit(store_pipe<TileData>()), reads(src), range_of(data_of(dst), extents, BATON_WRITES));
  copy_from_tile<GlobalData::layout, atomic>(src, data_of(dst), extents);
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
