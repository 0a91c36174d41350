// Maps of matrices in memory, from which hardware loads boxes in the form that the matrix unit reads. A core makes them
// from those of the host, which have the box, and keeps the last few.
//
// One map serves all boxes of a pitch in the first 2 GiB of a buffer: its lines begin everywhere, a box is `pitch` from
// line to line. What is shorter than a box has a map of its own, and zeros behind it. Maps begin where buffers do:
// hardware touches that address when a box reaches beyond its map.
#pragma once

#include <pto/target/cuda/bulk_copy.hpp>

namespace baton::cuda {

inline constexpr uint64_t kReach = uint64_t{1} << 31;
/// More than any line that begins there needs: elements.
inline constexpr uint32_t kWholeReach = static_cast<uint32_t>(kReach / 2) + 64;

__device__ inline unsigned char* maps_of_core() {
  return control().run->maps + uint64_t{blockIdx.x} * kMaps * kMapBytes;
}

/// Before loading with a map that another thread has made; pairs with make_map().
__device__ inline void acquire_map(const unsigned char* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(__cvta_generic_to_global(map)) : "memory");
}

PTO_OUTLINED __device__ inline uint32_t make_map(MapKey key) {
  MatrixUnit& unit = control().matrix;
  // Loads that use the one that makes room.
  drain_kept_loads();
  const uint32_t entry = unit.next_map++ % kMaps;
  unit.maps[entry] = key;
  for (KeptTile& tile : unit.tiles) {
    if (tile.state.map == entry) tile.state.base = 0;
  }
  unsigned char* const map = maps_of_core() + entry * kMapBytes;
  const auto* from = reinterpret_cast<const int4*>(control().run->boxes + uint64_t{key.form - 1u} * kMapBytes);
  for (uint32_t i = 0; i < kMapBytes / sizeof(int4); ++i) reinterpret_cast<int4*>(map)[i] = from[i];
  const uint64_t at = __cvta_generic_to_global(map);
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(at), "l"(key.base) : "memory");
  asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 0, %1;" ::"l"(at), "r"(key.length) : "memory");
  asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 1, %1;" ::"l"(at), "r"(uint32_t{key.lines})
               : "memory");
  asm volatile("tensormap.replace.tile.global_stride.global.b1024.b64 [%0], 0, %1;" ::"l"(at), "l"(uint64_t{key.pitch})
               : "memory");
  // To the hardware that reads maps, which may have an old one, and to the loader.
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  acquire_map(map);
  return entry;
}

__device__ inline bool is_map_for(const MapKey& map, const MapKey& key) {
  return map.base == key.base && map.pitch == key.pitch && map.length == key.length && map.lines == key.lines &&
         map.form == key.form && map.bytes == key.bytes;
}

__device__ inline uint32_t map_for(const MapKey& key) {
  const MatrixUnit& unit = control().matrix;
  for (uint32_t entry = 0; entry < kMaps; ++entry) {
    if (is_map_for(unit.maps[entry], key)) return entry;
  }
  return make_map(key);
}

/// Starts to load a box into shared memory.
__device__ inline void load_box(uint32_t to, const unsigned char* map, uint32_t element, uint32_t line,
                                uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(shared_address(barrier)), "r"(element), "r"(line)
      : "memory");
}

}  // namespace baton::cuda
