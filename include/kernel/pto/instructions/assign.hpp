// TASSIGN: where a tile lies in its on-chip buffer, or a tensor in global memory. TRESHAPE: a tile where another one
// lies.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/global_tensor.hpp>
#include <pto/instructions/events.hpp>
#include <pto/instructions/operands.hpp>
#include <pto/target/matrix_unit.hpp>
#if defined(__CUDACC__)
#include <pto/target/cuda/run.hpp>
#endif

namespace baton::kernel {

PTO_ONCE [[noreturn]] PTO_COLD AICORE void refuse_place(uint32_t tile_type, int64_t bytes, int64_t offset,
                                                        Where where) {
  const BatonCore& core = current_core();
  const BatonPlace place = place_of("TASSIGN", where);
  if (core.version != BATON_CORE_VERSION) {
    fail(place, BATON_KERNEL_UNSUPPORTED, "the kernel is compiled for version ", uint32_t{BATON_CORE_VERSION},
         " of the core, this one has version ", core.version);
  }
  if (offset % pto::BLOCK_BYTE_SIZE != 0) {
    fail(place, BATON_KERNEL_MISALIGNED, "offset ", offset, " is not a multiple of ", pto::BLOCK_BYTE_SIZE, " bytes");
  }
  fail(place, BATON_KERNEL_OUT_OF_RANGE, "a tile that reaches over ", bytes, " bytes at offset ", offset,
       " does not fit into the ", name_of(tile_type), " buffer, which has ", core.buffers[tile_type].capacity,
       " bytes");
}

/// Whether a kernel may meet a core of another version: a GPU's is linked with it.
#if defined(__CUDACC__)
inline constexpr bool kMayBeOfOtherVersion = false;
#else
inline constexpr bool kMayBeOfOtherVersion = true;
#endif

/// Where `bytes` bytes at `offset` lie in an on-chip buffer, and how many are left of it from there on.
PTO_ONCE PTO_SHARED AICORE BatonBuffer place_in_buffer(uint32_t tile_type, int64_t bytes, int64_t offset, Where where) {
  const BatonCore& core = current_core();
  const BatonBuffer& buffer = core.buffers[tile_type];
  if (kMatrixUnit && buffer.capacity == 0 && tile_type == static_cast<uint32_t>(pto::TileType::Vec)) settle_for_vec();
  const int64_t room = static_cast<int64_t>(buffer.capacity) - offset;
  if (kChecks && ((kMayBeOfOtherVersion && core.version != BATON_CORE_VERSION) || offset % pto::BLOCK_BYTE_SIZE != 0 ||
                  offset < 0 || bytes > room)) {
    refuse_place(tile_type, bytes, offset, where);
  }
  return {buffer.base + offset, static_cast<uint64_t>(room)};
}

template <typename TileData>
PTO_INLINE AICORE void assign(TileData& tile, int64_t offset, Where where) {
  // What the type leaves open is checked when it is used.
  constexpr bool kFixed = TileData::ValidRow != pto::DYNAMIC && TileData::ValidCol != pto::DYNAMIC;
  constexpr int64_t kBytes = kFixed ? Storage<TileData>::footprint(TileData::ValidRow, TileData::ValidCol).reach() : 1;
  constexpr auto kType = static_cast<uint32_t>(TileData::Loc);
#if defined(__CUDACC__) && defined(__DAV_CUBE__)
  // Which has all of its buffers but Vec: nothing has to be looked at.
  if constexpr (TileData::Loc != pto::TileType::Vec) {
    constexpr auto kCapacity = static_cast<int64_t>(cuda::kBufferBytes[kType]);
    const int64_t room = kCapacity - offset;
    if (kChecks && (offset % pto::BLOCK_BYTE_SIZE != 0 || offset < 0 || kBytes > room)) {
      refuse_place(kType, kBytes, offset, where);
    }
    unsigned char* const base = current_core().buffers[kType].base;
    return tile.set_data(reinterpret_cast<typename TileData::DType*>(base + offset), room);
  }
#endif
  const BatonBuffer at = place_in_buffer(kType, kBytes, offset, where);
  tile.set_data(reinterpret_cast<typename TileData::DType*>(at.base), static_cast<int64_t>(at.capacity));
}

}  // namespace baton::kernel

namespace pto {

/// `offset` counts bytes.
template <typename TileData, typename Offset>
requires(baton::kernel::is_tile<TileData> && (std::is_integral_v<Offset> || std::is_enum_v<Offset>)) AICORE
    void TASSIGN(TileData& tile, Offset offset, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::assign(tile, static_cast<int64_t>(offset), where);
}

template <auto offset, typename TileData>
requires(baton::kernel::is_tile<TileData>) AICORE
    void TASSIGN(TileData& tile, baton::kernel::Where where = baton::kernel::Where::current()) {
  baton::kernel::assign(tile, static_cast<int64_t>(offset), where);
}

template <typename GlobalData>
requires(baton::kernel::is_global_tensor<GlobalData>) AICORE
    void TASSIGN(GlobalData& tensor, typename GlobalData::DType* data) {
  tensor.set_data(data);
}

/// `dst` gets the bytes of `src`; nothing is copied.
template <typename DstTile, typename SrcTile>
AICORE RecordEvent TRESHAPE(DstTile& dst, SrcTile& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  using Element = typename DstTile::DType;
  static_assert(baton::kernel::lies_in<DstTile, TileType::Vec> && baton::kernel::lies_in<SrcTile, TileType::Vec> &&
                    !DstTile::isBoxedLayout && !SrcTile::isBoxedLayout,
                "TRESHAPE takes Vec tiles without boxes");
  static_assert(DstTile::Numel * sizeof(Element) == SrcTile::Numel * sizeof(typename SrcTile::DType),
                "TRESHAPE: the tiles have different numbers of bytes");
  baton::kernel::check_tile(baton::kernel::place_of("TRESHAPE", where), "src", src);
  dst.set_data(reinterpret_cast<Element*>(src.data()), src.room_bytes());
  return {};
}
PTO_WITH_EVENTS(TRESHAPE)

}  // namespace pto
