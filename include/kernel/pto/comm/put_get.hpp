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

AICORE inline int64_t element_count(const Extents& extents) {
  int64_t count = 1;
  for (const int64_t extent : extents.shape) count *= extent;
  return count;
}

/// Copies without the tile, if both sides are one run of elements and share none. A chip leaves nothing in the tile
/// that is defined: so that no kernel relies on it, it begins with other bytes.
PTO_ONCE PTO_SHARED AICORE bool copy_past_tiles(const TileView (&tiles)[2], const GlobalView& dst,
                                                const GlobalView& src) {
  const int64_t bytes = element_count(src.extents) * src.element_bytes;
  if (!is_packed(src.layout, src.extents) || !is_packed(dst.layout, dst.extents)) return false;
  if (dst.data + bytes > src.data && src.data + bytes > dst.data) return false;
  copy_lines(dst.data, bytes, src.data, bytes, 1, bytes);
  if (!kChecks) return true;
  for (const TileView& tile : tiles) {
    const auto line = static_cast<size_t>(tile.footprint().run_bytes);
    memset(tile.data, 0xa5, line < kConspicuousBytes ? line : kConspicuousBytes);
  }
  return true;
}

/// Which operands are on another host.
struct FarOperands {
  bool dst = false;
  bool src = false;
};

/// Checks operands and tells the core. `cut` are the tile's valid rows and columns: the pieces that are copied.
PTO_ONCE PTO_SHARED AICORE FarOperands begin_put(const BatonPlace& place, const TileView (&tiles)[2], int tile_count,
                                                 const GlobalView& dst, const GlobalView& src, const Cut (&cut)[2],
                                                 uint32_t atomic) {
  FarOperands far;
  finish_copies();
  for (int i = 0; i < tile_count; ++i) {
    const TileView& tile = tiles[i];
    check_tile(place, "tile", tile);
    check_not_empty(place, "tile", tile);
    check_extents(place, src.extents);
    check_inner_stride(place, src.layout, src.extents);
    check_inner_stride(place, dst.layout, dst.extents);
    far.src = check_access(place, "src", src);
    far.dst = check_access(place, "dst", dst);
    if (BatonCore* const core = watching_core()) {
      const TileUse use = use_of(tile, BATON_READS | BATON_WRITES);
      const BatonGlobalRange globals[] = {range_of(src, BATON_READS), range_of(dst, BATON_WRITES | atomic)};
      tell(*core, place, pipe_bit(PIPE_MTE2) | pipe_bit(PIPE_MTE3), &use, 1, globals, 2);
    }
  }
  if (rows_of(src.layout, src.extents) == cut[0].size && cols_of(src.layout, src.extents) == cut[1].size) return far;
  check_cut(place, "rows", src.extents.shape[3], cut[0]);
  check_cut(place, "columns", src.extents.shape[4], cut[1]);
  check_same_valid(place, "ping", tiles[0], "pong", tiles[1]);
  return far;
}

/// Calls body(rows, columns, where in the source, where in the destination) for pieces of at most the tile's valid
/// size.
template <typename Body>
PTO_INLINE AICORE void for_each_piece(const Extents& from, const Extents& to, int64_t rows, int64_t cols, Body body) {
  for (int64_t i0 = 0; i0 < from.shape[0]; ++i0) {
    for (int64_t i1 = 0; i1 < from.shape[1]; ++i1) {
      for (int64_t i2 = 0; i2 < from.shape[2]; ++i2) {
        for (int64_t row = 0; row < from.shape[3]; row += rows) {
          for (int64_t col = 0; col < from.shape[4]; col += cols) {
            const auto offset = [&](const Extents& of) {
              return i0 * of.stride[0] + i1 * of.stride[1] + i2 * of.stride[2] + row * of.stride[3] +
                     col * of.stride[4];
            };
            body(from.shape[3] - row < rows ? from.shape[3] - row : rows,
                 from.shape[4] - col < cols ? from.shape[4] - col : cols, offset(from), offset(to));
          }
        }
      }
    }
  }
}

/// Part of a plane.
PTO_INLINE AICORE GlobalView piece_of(const GlobalView& tensor, int64_t offset, int64_t rows, int64_t cols) {
  const Extents& whole = tensor.extents;
  return {tensor.data + offset * tensor.element_bytes,
          tensor.element_bytes,
          tensor.layout,
          {{1, 1, 1, rows, cols}, {0, 0, 0, whole.stride[3], whole.stride[4]}}};
}

/// Copies the source through `tiles` in turn: as a whole if it has the tile's valid size, else cut.
/// store(tile, tensor) writes a piece.
template <typename Store>
PTO_INLINE AICORE void put_pieces(const TileView (&tiles)[2], const GlobalView& dst, const GlobalView& src,
                                  Store store) {
  const int64_t rows = tiles[0].valid_rows;
  const int64_t cols = tiles[0].valid_cols;
  const auto put = [&](TileView tile, const GlobalView& to, const GlobalView& from) {
    copy_bytes(tile, from, Way::to_tile);
    store(tile, to);
  };
  if (rows_of(src.layout, src.extents) == rows && cols_of(src.layout, src.extents) == cols) {
    return put(tiles[0], dst, src);
  }
  int turn = 0;
  for_each_piece(src.extents, dst.extents, rows, cols,
                 [&](int64_t rows_here, int64_t cols_here, int64_t from, int64_t to) {
                   TileView tile = tiles[turn++ % 2];
                   tile.valid_rows = static_cast<int32_t>(rows_here);
                   tile.valid_cols = static_cast<int32_t>(cols_here);
                   put(tile, piece_of(dst, to, rows_here, cols_here), piece_of(src, from, rows_here, cols_here));
                 });
}

PTO_ONCE PTO_SHARED AICORE void put_bytes(const TileView (&tiles)[2], const GlobalView& dst, const GlobalView& src) {
  if (copy_past_tiles(tiles, dst, src)) return;
  put_pieces(tiles, dst, src,
             [](const TileView& tile, const GlobalView& tensor) { copy_bytes(tile, tensor, Way::from_tile); });
}

template <typename Element>
PTO_SHARED AICORE void put_adding(const TileView (&tiles)[2], const GlobalView& dst, const GlobalView& src) {
  put_pieces(tiles, dst, src,
             [](const TileView& tile, const GlobalView& tensor) { add_elements<Element, Element>(tile, tensor); });
}

template <pto::AtomicType atomic, typename Dst, typename Src, typename TileData>
AICORE void put_through(const char* name, Dst& dst, Src& src, const TileData& ping, const TileData& pong, Where where) {
  using Element = typename Src::RawDType;
  static_assert(atomic == pto::AtomicType::AtomicNone || is_atomic_number<Element>,
                "TPUT with AtomicAdd: half, float, bfloat16, int8, int16 or int32");
  static_assert(lies_in<TileData, pto::TileType::Vec> && !TileData::isBoxedLayout, "TPUT, TGET go through a Vec tile");
  static_assert(std::is_same_v<typename Dst::RawDType, Element> && std::is_same_v<typename TileData::DType, Element>,
                "TPUT, TGET: destination, source and tile have different element types");
  static_assert(Dst::layout == Src::layout, "TPUT, TGET: destination and source have different layouts");
  static_assert(layouts_match<TileData, Src, true>(), "TPUT, TGET: the tile's layout does not match the tensors'");
  if constexpr (moves_one_line<TileData, Src> && is_one_line<Dst> && atomic == pto::AtomicType::AtomicNone) {
    const int64_t bytes = src.GetShape(4) * int64_t{sizeof(Element)};
    const int64_t count = src.GetShape(4);
    if (watching_core() == nullptr && is_wide(dst.data(), bytes) && is_wide(src.data(), 0) && can_stage(ping, count) &&
        can_stage(pong, count) && ping.GetValidCol() == pong.GetValidCol() &&
        are_apart(dst.data(), bytes, src.data(), bytes) &&
        (!kChecks || (is_known_memory(src.data(), bytes) && is_known_memory(dst.data(), bytes)))) {
      finish_copies();
      const LineStage stage{
          {reinterpret_cast<unsigned char*>(ping.data()), reinterpret_cast<unsigned char*>(pong.data())},
          ping.GetValidCol() * int64_t{sizeof(Element)}};
      return put_line(reinterpret_cast<unsigned char*>(data_of(dst)), reinterpret_cast<unsigned char*>(data_of(src)),
                      stage, bytes);
    }
  }
  const TileView tiles[2] = {ping, pong};
  GlobalView from = view_of(src);
  // The source's shape governs; of the destination only the strides count.
  GlobalView to = view_of(dst);
  for (int dim = 0; dim < 5; ++dim) {
    to.extents.shape[dim] = from.extents.shape[dim];
    to.extents.stride[dim] = from.extents.shape[dim] == 1 ? 0 : dst.GetStride(dim);
  }
  const Cut cut[2] = {{tiles[0].valid_rows, TileData::ValidRow == pto::DYNAMIC},
                      {tiles[0].valid_cols, TileData::ValidCol == pto::DYNAMIC}};
  constexpr uint32_t kAtomic = atomic == pto::AtomicType::AtomicNone ? uint32_t{0} : uint32_t{BATON_ATOMIC};
  const BatonPlace place = place_of(name, where);
  const FarOperands far = begin_put(place, tiles, &ping == &pong ? 1 : 2, to, from, cut, kAtomic);
  const unsigned char* const there = to.data;
  if (kFarMemory && far.src) from.data = bring_near(place, from, BATON_READS);
  if (kFarMemory && far.dst) to.data = bring_near(place, to, write_access<Element, atomic>());
  if constexpr (atomic == pto::AtomicType::AtomicNone) {
    put_bytes(tiles, to, from);
  } else {
    put_adding<Element>(tiles, to, from);
  }
  if (kFarMemory && far.dst) send_back(place, to, there, write_access<Element, atomic>());
}

}  // namespace baton::kernel

namespace pto::comm {

/// dst = src, or dst += src, one element at a time, for AtomicAdd. Ordered before later work of MTE2 and MTE3.
template <AtomicType atomic = AtomicType::AtomicNone, typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TPUT(Dst& dst, Src& src, TileData& tile, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::put_through<atomic>("TPUT", dst, src, tile, tile, where);
  return {};
}
template <AtomicType atomic = AtomicType::AtomicNone, typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TPUT(Dst& dst, Src& src, TileData& ping, TileData& pong,
         baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::put_through<atomic>("TPUT", dst, src, ping, pong, where);
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
  baton::kernel::put_through<AtomicType::AtomicNone>("TGET", dst, src, tile, tile, where);
  return {};
}
template <typename Dst, typename Src, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE RecordEvent
    TGET(Dst& dst, Src& src, TileData& ping, TileData& pong,
         baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::put_through<AtomicType::AtomicNone>("TGET", dst, src, ping, pong, where);
  return {};
}
PTO_WITH_EVENTS(TGET)

}  // namespace pto::comm
