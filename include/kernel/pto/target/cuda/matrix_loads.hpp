// TLOAD into tiles of Mat that are kept in shared memory: which place each has, and whether it may be loaded again as
// it was. Functions that return false have done nothing: the instruction goes its usual way, after settle_matrices().
#pragma once

#include <pto/target/cuda/matrix_settle.hpp>
#include <pto/target/cuda/tensor_map.hpp>

namespace baton::cuda {

/// The number of a kept tile that begins there; kKeptTiles if there is none.
__device__ inline uint32_t find_tile(uint32_t begin) {
  const MatrixUnit& unit = control().matrix;
  for (uint32_t i = 0; i < kKeptTiles; ++i) {
    if (unit.tiles[i].key.begin == begin) return i;
  }
  return kKeptTiles;
}

/// Room for a tile; what overlaps it is settled.
PTO_OUTLINED __device__ inline uint32_t make_tile(const TileKey& key) {
  MatrixUnit& unit = control().matrix;
  const uint32_t home = home_of(key.begin);
  uint32_t free = kKeptTiles;
  bool apart = true;
  for (uint32_t i = 0; i < kKeptTiles; ++i) {
    const TileKey& other = unit.tiles[i].key;
    if (other.begin == kNowhere) {
      if (free == kKeptTiles || i == home) free = i;
    } else if (key.begin < other.begin + other.bytes() && other.begin < key.begin + key.bytes()) {
      apart = false;
    }
  }
  if (!apart || free == kKeptTiles) {
    settle_all();
    free = home;
  }
  unit.kept += 1;
  KeptTile::State& state = unit.tiles[free].state;
  state.is_read = 0;
  state.wanted = Split::lengths;
  return free;
}

/// Whether Left or Right tiles are parts of a kept one.
PTO_INLINE __device__ bool has_views(uint32_t tile) {
  const MatrixUnit& unit = control().matrix;
  static_assert(sizeof unit.views[0].tiles == sizeof(uint64_t));
  const uint64_t all =
      *reinterpret_cast<const uint64_t*>(unit.views[0].tiles) | *reinterpret_cast<const uint64_t*>(unit.views[1].tiles);
  return (all >> tile & 0x0001'0001'0001'0001) != 0;
}

PTO_INLINE __device__ void order_load(uint32_t id, const KeptTile::State& state, uint64_t at, uint32_t flags,
                                      uint32_t number) {
  KeptTile::State& kept = control().matrix.tiles[id].state;
  kept.loads = state.loads + 1;
  kept.is_read = 0;
  post_order(
      {.element = static_cast<uint32_t>(at - state.base) / 2, .reader = state.reader, .tile = id, .flags = flags},
      number);
}

/// The buffer that has these bytes, from where a map for them may begin; nothing if there is none, and that is checked.
__device__ inline Extent extent_of_map(uint64_t memory, uint64_t bytes) {
  const Control& mine = control();
  for (uint32_t tries = 0; tries < 2; ++tries) {
    for (const Extent& extent : mine.last_extents) {
      if (!extent_holds(extent, memory, bytes)) continue;
      if (memory - extent.begin < kReach && extent.begin % 16 == 0) return extent;
      return {memory, extent.begin + extent.bytes - memory};
    }
    if (!find_extent(memory, bytes)) break;
  }
  return kernel::kChecks ? Extent{0, 0} : Extent{memory, bytes};
}

/// The portions of a tile of which products read `wanted` ones, if it can be divided like that.
__device__ inline Split split_of(const TileKey& key, Split wanted) {
  const uint32_t chunks = key.length() / kernel::chunk_width(key.length());
  if (wanted == Split::lines) return key.lines() % (kPortions * kernel::kBoxSide) == 0 ? wanted : Split::none;
  return wanted == Split::lengths && chunks % kPortions == 0 ? wanted : Split::none;
}

__device__ inline LoadPlan plan_of(const TileKey& key, Split split, uint32_t map) {
  const uint32_t lines = split == Split::lines ? key.lines() / kPortions : key.lines();
  const uint32_t length = split == Split::lengths ? key.length() / kPortions : key.length();
  const uint32_t width = kernel::chunk_width(key.length());
  const uint32_t box_lines = box_lines_of(lines);
  return {.map = maps_of_core() + map * kMapBytes,
          .to = window_address() + key.begin,
          .bytes = lines * length * 2,
          .portion_to = (split == Split::lengths ? key.lines() * length : lines * width) * 2,
          .portion_element = split == Split::lengths ? length : 0,
          .portion_line = split == Split::lines ? lines : 0,
          .portions = split == Split::none ? 1 : kPortions,
          .across_to = key.lines() * width * 2,
          .down_to = box_lines * width * 2,
          .across = static_cast<uint16_t>(length / width),
          .down = static_cast<uint16_t>(lines / box_lines),
          .across_elements = static_cast<uint16_t>(width),
          .down_lines = static_cast<uint16_t>(box_lines)};
}

/// Whatever was there. False if it cannot be kept there, or kernels may not touch that memory.
PTO_OUTLINED __device__ inline bool load_anew(const unsigned char* memory, TileKey key) {
  Control& mine = control();
  MatrixUnit& unit = mine.matrix;
  BulkCopies& copies = mine.copies;
  if (key.begin % kPage != 0 || key.begin > unit.window_bytes || key.bytes() > unit.window_bytes - key.begin)
    return false;
  const auto at = reinterpret_cast<uint64_t>(memory);
  const uint64_t bytes = uint64_t{key.valid_lines() - 1} * key.pitch + key.valid_length() * 2;
  const Extent extent = extent_of_map(at, bytes);
  if (extent.begin == 0) return false;
  uint32_t id = find_tile(key.begin);
  const bool is_there = id != kKeptTiles && unit.tiles[id].key.size == key.size;
  if (!is_there || has_views(id)) {
    if (is_there) settle_all();
    id = make_tile(key);
  }
  KeptTile& tile = unit.tiles[id];
  KeptTile::State& state = tile.state;
  // A barrier tells two loads apart if the first one is known to have ended when the second begins: products wait for
  // it.
  if (state.is_read == 0) drain_kept_loads();
  tile.key = key;
  const Split split = split_of(key, state.wanted);
  const uint32_t lines = split == Split::lines ? key.lines() / kPortions : key.lines();
  const bool is_whole = key.valid_length() == key.length();
  const auto element = static_cast<uint32_t>(at - extent.begin) / 2;
  const MapKey map{extent.begin,
                   key.pitch,
                   is_whole ? kWholeReach : element + key.valid_length(),
                   static_cast<uint16_t>(key.valid_lines()),
                   static_cast<uint16_t>(1 + box_of(kernel::chunk_width(key.length()), box_lines_of(lines))),
                   extent.bytes};
  const Span span = span_of(memory, int64_t{key.pitch}, key.valid_lines(), key.valid_length() * 2);
  if (span.begin < copies.stored_end && copies.stored_begin < span.end) finish_stores();
  const uint32_t flags = kHasNewMap | (state.is_read != 0 ? kHasReader : 0u);
  state.map = map_for(map);
  state.split = split;
  state.base = extent.begin;
  // The loader may still look at the plan that was there.
  wait_orders();
  plan_of_tile(id) = plan_of(key, split, state.map);
  if (copies.memory_changed != 0) {
    fence_copies();
    copies.memory_changed = copies.lanes_wrote = 0;
  } else {
    fence_shared_copies();
  }
  order_load(id, state, at, flags, unit.ordered);
  // What is shorter than its tile has a map of its own.
  const uint64_t room = bytes <= extent.bytes ? extent.bytes - bytes : 0;
  state.reach = static_cast<uint32_t>(room < kReach ? room : kReach - 1);
  state.bytes = static_cast<uint32_t>(bytes);
  if (!is_whole || bytes >= kReach) state.base = 0;
  mine.left.copies = 1;
  return true;
}

/// The same, fast where a whole tile of the same matrix was loaded there before, and a product has read it. Neither
/// here nor in make_view() and post_product() does a director take constants along that way, `true` among them: the
/// compiler makes many by an instruction (HFMA2.MMA) that waits for hundreds of cycles while tensor cores work.
PTO_INLINE __device__ bool load_kept(const unsigned char* memory, const TileKey& key) {
  const Control& mine = control();
  const uint32_t id = home_of(key.begin);
  const uint32_t number = read_at_once(mine.matrix.ordered);
  const KeptTile tile = read_at_once(mine.matrix.tiles[id]);
  const BulkCopies& copies = mine.copies;
  const auto at = reinterpret_cast<uint64_t>(memory);
  const bool is_apart = at >= copies.stored_end || at + tile.state.bytes <= copies.stored_begin;
  // All of it is read at once, and judged together.
  const bool is_ready = static_cast<int>(are_same(tile.key, key)) & static_cast<int>(tile.state.is_read != 0) &
                        static_cast<int>(at - tile.state.base <= tile.state.reach) &
                        static_cast<int>(copies.memory_changed == 0) & static_cast<int>(is_apart) &
                        static_cast<int>(!has_views(id));
  if (!is_ready) [[unlikely]]
    return load_anew(memory, key);
  order_load(id, tile.state, at, tile.state.is_read, number);
  return tile.state.bytes != 0;  // true
}

}  // namespace baton::cuda
