// TPUT and TGET: from global memory to global memory through a tile.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/load_store.hpp>

namespace baton::kernel {

/// Valid rows or columns of the staging tile, and whether fewer may be used.
struct Cut {
  int64_t size;
  bool may_shrink;
};

AICORE inline void check_cut(const BatonPlace& place, const char* name, int64_t extent, Cut cut) {
  if (!kChecks || cut.may_shrink || extent % cut.size == 0) return;
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the source has ", extent, " ", name, ", which the tile's ", cut.size,
       " valid ones do not divide; make them dynamic or choose a divisor");
}

inline constexpr size_t kConspicuousBytes = 64;

/// One piece that fits into the tile.
template <pto::AtomicType atomic, typename TileData, typename Element>
AICORE void copy_piece(const TileData& tile, Element* dst, const Extents& to, const Element* src, const Extents& from) {
  constexpr pto::Layout kLayout = TileData::isRowMajor ? pto::Layout::ND : pto::Layout::DN;
  copy_to_tile<kLayout>(tile, src, from);
  copy_from_tile<kLayout, atomic>(tile, dst, to);
}

AICORE inline int64_t element_count(const Extents& extents) {
  int64_t count = 1;
  for (const int64_t extent : extents.shape) count *= extent;
  return count;
}

/// Whether both sides are one run of elements, and share none.
template <pto::Layout layout, typename Element>
AICORE bool is_plain_copy(const Element* dst, const Extents& to, const Element* src, const Extents& from) {
  const int64_t count = element_count(from);
  return is_packed<layout>(from) && is_packed<layout>(to) && (dst + count <= src || src + count <= dst);
}

/// Copies without the tile, in which a chip leaves nothing that is defined: so that no kernel relies on it, this begins
/// with other bytes.
template <typename TileData, typename Element>
AICORE void copy_past_tiles(TileData* const (&tiles)[2], Element* dst, const Element* src, const Extents& extents) {
  const auto bytes = static_cast<size_t>(element_count(extents)) * sizeof(Element);
  memcpy(static_cast<void*>(dst), static_cast<const void*>(src), bytes);
  if (!kChecks) return;
  for (TileData* tile : tiles) {
    const auto line = static_cast<size_t>(footprint_of(*tile).run_bytes);
    memset(static_cast<void*>(tile->data()), 0xa5, line < kConspicuousBytes ? line : kConspicuousBytes);
  }
}

/// A tile of the same kind whose valid size the copy may choose.
template <typename TileData>
struct Staging {
  static constexpr pto::TileType Loc = TileData::Loc;
  static constexpr int Rows = TileData::Rows;
  static constexpr int Cols = TileData::Cols;
  static constexpr int RowStride = TileData::RowStride;
  static constexpr int ColStride = TileData::ColStride;
  static constexpr bool isRowMajor = TileData::isRowMajor;
  static constexpr bool isBoxedLayout = false;
  static constexpr pto::SLayout SFractal = pto::SLayout::NoneBox;
  static constexpr int InnerRows = 1;
  static constexpr int InnerCols = 1;
  using DType = typename TileData::DType;
  DType* bytes;
  int rows;
  int cols;

  AICORE DType* data() const { return bytes; }
  AICORE int GetValidRow() const { return rows; }
  AICORE int GetValidCol() const { return cols; }
};

template <typename TileData, typename Dst, typename Src>
AICORE void check_put(const BatonPlace& place, const Dst& dst, const Src& src, const TileData& tile,
                      const Extents& from, const Extents& to) {
  using Element = typename Src::RawDType;
  static_assert(lies_in<TileData, pto::TileType::Vec> && !TileData::isBoxedLayout, "TPUT, TGET go through a Vec tile");
  static_assert(std::is_same_v<typename Dst::RawDType, Element> && std::is_same_v<typename TileData::DType, Element>,
                "TPUT, TGET: destination, source and tile have different element types");
  static_assert(Dst::layout == Src::layout, "TPUT, TGET: destination and source have different layouts");
  static_assert(layouts_match<TileData, Src, true>(), "TPUT, TGET: the tile's layout does not match the tensors'");
  check_tile(place, "tile", tile);
  check_not_empty(place, "tile", tile);
  check_extents(place, from);
  check_inner_stride<Src::layout>(place, from);
  check_inner_stride<Dst::layout>(place, to);
  check_access(place, "src", data_of(src), from);
  check_access(place, "dst", data_of(dst), to);
}

/// Calls body(offset in the source, offset in the destination) for each plane of dimensions 3 and 4.
template <typename Body>
AICORE void for_each_plane(const Extents& from, const Extents& to, Body body) {
  for (int64_t i0 = 0; i0 < from.shape[0]; ++i0) {
    for (int64_t i1 = 0; i1 < from.shape[1]; ++i1) {
      for (int64_t i2 = 0; i2 < from.shape[2]; ++i2) {
        body(i0 * from.stride[0] + i1 * from.stride[1] + i2 * from.stride[2],
             i0 * to.stride[0] + i1 * to.stride[1] + i2 * to.stride[2]);
      }
    }
  }
}

/// Part of a plane.
AICORE inline Extents piece_of(const Extents& extents, int64_t rows, int64_t cols) {
  return {{1, 1, 1, rows, cols}, {0, 0, 0, extents.stride[3], extents.stride[4]}};
}

/// Copies a plane in pieces of at most rows.size x cols.size, through `stages` in turn.
template <pto::AtomicType atomic, typename Stage, typename Element>
AICORE void copy_plane(const Stage (&stages)[2], Element* dst, const Extents& to, const Element* src,
                       const Extents& from, Cut rows, Cut cols) {
  int turn = 0;
  for (int64_t row = 0; row < from.shape[3]; row += rows.size) {
    const int64_t rows_here = from.shape[3] - row < rows.size ? from.shape[3] - row : rows.size;
    for (int64_t col = 0; col < from.shape[4]; col += cols.size) {
      const int64_t cols_here = from.shape[4] - col < cols.size ? from.shape[4] - col : cols.size;
      const Stage stage{stages[turn++ % 2].bytes, static_cast<int>(rows_here), static_cast<int>(cols_here)};
      copy_piece<atomic, Stage, Element>(
          stage, dst + row * to.stride[3] + col * to.stride[4], piece_of(to, rows_here, cols_here),
          src + row * from.stride[3] + col * from.stride[4], piece_of(from, rows_here, cols_here));
    }
  }
}

/// Copies the source through `tiles` in turn: as a whole if it has the tile's valid size, else cut.
template <pto::AtomicType atomic, typename Dst, typename Src, typename TileData>
AICORE void put_through(const char* name, Dst& dst, Src& src, TileData* const (&tiles)[2], Where where) {
  static_assert(atomic == pto::AtomicType::AtomicNone || is_atomic_number<typename Src::RawDType>,
                "TPUT with AtomicAdd: half, float, bfloat16, int8, int16 or int32");
  const BatonPlace place = place_of(name, where);
  const Extents from = extents_of(src);
  // The source's shape governs; of the destination only the strides count.
  Extents to = from;
  for (int dim = 0; dim < 5; ++dim) to.stride[dim] = from.shape[dim] == 1 ? 0 : dst.GetStride(dim);
  for (TileData* tile : tiles) {
    check_put(place, dst, src, *tile, from, to);
    BatonTileRange range = reads(*tile);
    range.access = BATON_READS | BATON_WRITES;
    issue_with_tile(place, pipe_bit(PIPE_MTE2) | pipe_bit(PIPE_MTE3), range, range_of(data_of(src), from, BATON_READS),
                    range_of(data_of(dst), to, BATON_WRITES));
    if (tiles[0] == tiles[1]) break;
  }
  const int valid_rows = tiles[0]->GetValidRow();
  const int valid_cols = tiles[0]->GetValidCol();
  const bool fits = rows_of<Src::layout>(from) == valid_rows && cols_of<Src::layout>(from) == valid_cols;
  const Cut rows{valid_rows, TileData::ValidRow == pto::DYNAMIC};
  const Cut cols{valid_cols, TileData::ValidCol == pto::DYNAMIC};
  if (!fits) {
    check_cut(place, "rows", from.shape[3], rows);
    check_cut(place, "columns", from.shape[4], cols);
    check_same_valid(place, "ping", *tiles[0], "pong", *tiles[1]);
  }
  if constexpr (atomic == pto::AtomicType::AtomicNone) {
    if (is_plain_copy<Src::layout, typename Src::RawDType>(data_of(dst), to, data_of(src), from)) {
      copy_past_tiles(tiles, data_of(dst), data_of(src), from);
      return;
    }
  }
  const Staging<TileData> stages[2] = {{tiles[0]->data(), valid_rows, valid_cols},
                                       {tiles[1]->data(), valid_rows, valid_cols}};
  if (fits) {
    copy_piece<atomic, Staging<TileData>, typename Src::RawDType>(stages[0], data_of(dst), to, data_of(src), from);
    return;
  }
  for_each_plane(from, to, [&](int64_t src_plane, int64_t dst_plane) {
    copy_plane<atomic, Staging<TileData>, typename Src::RawDType>(stages, data_of(dst) + dst_plane, to,
                                                                  data_of(src) + src_plane, from, rows, cols);
  });
}

}  // namespace baton::kernel

namespace pto::comm {

/// dst = src, or dst += src, one element at a time, for AtomicAdd. Ordered before later work of MTE2 and MTE3.
template <AtomicType atomic = AtomicType::AtomicNone, typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TPUT(Dst& dst, Src& src, TileData& tile, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::put_through<atomic>("TPUT", dst, src, {&tile, &tile}, where);
  return {};
}
template <AtomicType atomic = AtomicType::AtomicNone, typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TPUT(Dst& dst, Src& src, TileData& ping, TileData& pong,
         baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::put_through<atomic>("TPUT", dst, src, {&ping, &pong}, where);
  return {};
}
template <typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TPUT(Dst& dst, Src& src, TileData& tile, AtomicType atomic,
         baton::kernel::Where where = baton::kernel::Where::current()) {
  if constexpr (baton::kernel::is_atomic_number<typename Src::RawDType>) {
    if (atomic == AtomicType::AtomicAdd) return TPUT<AtomicType::AtomicAdd>(dst, src, tile, where);
  } else if (baton::kernel::kChecks && atomic == AtomicType::AtomicAdd) {
    baton::kernel::fail(baton::kernel::place_of("TPUT", where), BATON_KERNEL_UNSUPPORTED,
                        "AtomicAdd is for half, float, bfloat16, int8, int16 and int32");
  }
  return TPUT<AtomicType::AtomicNone>(dst, src, tile, where);
}
template <AtomicType atomic = AtomicType::AtomicNone, typename Dst, typename Src, typename TileData,
          baton::kernel::Event... Events>
requires(sizeof...(Events) > 0 && baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TPUT(Dst& dst, Src& src, TileData& tile, Events&... events) {
  (events.Wait(), ...);
  return TPUT<atomic>(dst, src, tile, baton::kernel::Where::unknown());
}

/// dst = src, where src is in a peer's window.
template <typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TGET(Dst& dst, Src& src, TileData& tile, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::put_through<AtomicType::AtomicNone>("TGET", dst, src, {&tile, &tile}, where);
  return {};
}
template <typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TGET(Dst& dst, Src& src, TileData& ping, TileData& pong,
         baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::put_through<AtomicType::AtomicNone>("TGET", dst, src, {&ping, &pong}, where);
  return {};
}
PTO_WITH_EVENTS(TGET)

}  // namespace pto::comm
