// What the first lane of a core does of bulk copies: stores, loads that come after them or after lanes, and waits for
// stores, of which only the thread that began them knows. pto/target/cuda/bulk_copy.hpp posts them.
#pragma once

#include <pto/target/bulk_copy.hpp>
#include <pto/target/cuda/control.hpp>

namespace baton::cuda {

/// Of bulk copies.
inline constexpr uint32_t kUnit = 16;

/// Of the stores that need not have read Vec when others have: as many as the hardware is asked about, and all of them.
inline constexpr uint32_t kMostLeft = 3;
inline constexpr uint32_t kAllLeft = kMostLeft + 1;
__device__ inline uint32_t left_of(uint32_t stores) { return stores < kMostLeft ? stores : kMostLeft; }
/// Of the thread that began the stores: until all but the last few have read Vec.
__device__ inline void wait_groups_read(uint32_t left) {
  switch (left) {
    case 0: asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.bulk.wait_group.read 2;" ::: "memory"); break;
    case kMostLeft: asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory"); break;
    default: break;
  }
}

/// Work of lanes: what the first of them began has read Vec, but for the last few stores.
struct AwaitStoresRead {
  uint32_t left;
  __device__ __forceinline__ void operator()(kernel::Lanes lanes) const {
    if (lanes.lane == 0) wait_groups_read(left);
  }
};
/// The same: all stores are in memory.
struct AwaitStores {
  __device__ __forceinline__ void operator()(kernel::Lanes lanes) const {
    if (lanes.lane != 0) return;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    fence_copies();
  }
};

/// Lines between memory and Vec, as lanes are told of them. Also what the first lane does before.
struct PostedLines {
  uint64_t memory;
  // In units of 16 bytes.
  uint32_t memory_pitch;
  uint16_t tile;  // address in shared memory
  uint16_t tile_pitch;
  uint16_t bytes;
  uint16_t lines;
  uint8_t stores_left;     // of a load: stores that need not have read Vec
  uint8_t load;            // its place
  uint8_t lanes_wrote;     // not 0: to tiles, without a fence
  uint8_t memory_changed;  // not 0: a fence for all memory comes before

  __device__ __forceinline__ PostedLines(const kernel::LineCopy& copy, uint32_t left, uint32_t place, bool wrote,
                                         bool changed)
      : memory(reinterpret_cast<uint64_t>(copy.memory)),
        memory_pitch(static_cast<uint32_t>(copy.memory_pitch / kUnit)),
        tile(static_cast<uint16_t>(shared_address(copy.tile) / kUnit)),
        tile_pitch(static_cast<uint16_t>(static_cast<uint32_t>(copy.tile_pitch) / kUnit)),
        bytes(static_cast<uint16_t>(static_cast<uint32_t>(copy.bytes) / kUnit)),
        lines(static_cast<uint16_t>(copy.lines)),
        stores_left(static_cast<uint8_t>(left)),
        load(static_cast<uint8_t>(place)),
        lanes_wrote(wrote ? 1 : 0),
        memory_changed(changed ? 1 : 0) {}

  /// Calls copy(bytes in shared memory, bytes in memory, how many) for each line.
  template <typename Copy>
  __device__ __forceinline__ void for_lines(const Copy& copy) const {
    // Most have one, and what is short is there sooner.
#pragma unroll 1
    for (uint32_t line = 0; line < lines; ++line) {
      copy(__cvta_shared_to_generic((tile + line * tile_pitch) * kUnit),
           reinterpret_cast<void*>(memory + uint64_t{line} * memory_pitch * kUnit), bytes * kUnit);
    }
  }

  /// Whether this is the lane that begins the copies. What lanes and the director did to tiles comes before.
  __device__ __forceinline__ bool is_next(kernel::Lanes lanes) const {
    if (lanes_wrote != 0) {
      // The first lane's is also one of what the director did before it posted this.
      fence_shared_copies();
      meet_lanes(lanes);
    }
    if (lanes.lane != 0) return false;
    if (memory_changed != 0) {
      fence_copies();
    } else if (lanes_wrote == 0) {
      fence_shared_copies();
    }
    return true;
  }
};

struct PostedLoad : PostedLines {
  using PostedLines::PostedLines;
  __device__ __forceinline__ void operator()(kernel::Lanes lanes) const {
    if (!is_next(lanes)) return;
    wait_groups_read(stores_left);
    uint64_t* const barrier = &control().copies.loaded[load];
    barrier_expect(barrier, lines * bytes * kUnit);
    for_lines([=](void* in_tile, const void* from, uint32_t count) { copy_to_shared(in_tile, from, count, barrier); });
  }
};

struct PostedStore : PostedLines {
  using PostedLines::PostedLines;
  __device__ __forceinline__ void operator()(kernel::Lanes lanes) const {
    if (!is_next(lanes)) return;
    for_lines([](const void* in_tile, void* to, uint32_t count) { copy_from_shared(to, in_tile, count); });
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
};

}  // namespace baton::cuda
