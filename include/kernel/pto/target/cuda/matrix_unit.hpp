// The director's side of the matrix unit: which tiles of Mat are in shared memory, which Left and Right tiles are parts
// of them, and what the lanes multiply. Functions that return false have done nothing: the instruction goes its usual
// way, after settle_matrices().
#pragma once

#include <pto/target/cuda/core.hpp>
#include <pto/target/cuda/matrix_commands.hpp>
#include <pto/target/cuda/tensor_map.hpp>
#include <pto/target/lanes.hpp>
#include <pto/target/matrix_unit.hpp>
#include <pto/target/operand_form.hpp>

namespace baton::cuda {

/// Of a core whose task may keep tiles. Vec has none of these bytes then.
__device__ inline uint32_t window_address() { return shared_address(baton_shared_memory) + kControlBytes; }
__device__ inline unsigned char* window() { return baton_shared_memory + kControlBytes; }

__device__ inline void forget_matrices() {
  MatrixUnit& unit = control().matrix;
  if (unit.sums.session != Sums::none) end_session(Registers::forgotten);
  if (unit.kept == 0) return;
  unit.kept = 0;
  for (KeptTile& tile : unit.tiles) tile.key.begin = kNowhere;
  for (Views& views : unit.views) {
    for (uint32_t i = 0; i < kViews; ++i) {
      views.at[i] = kNowhere;
      views.tile[i] = kNoTile;
    }
  }
}

/// Before a task of this core.
__device__ inline void prepare_matrices(const Run& run, bool is_cube) {
  Control& mine = control();
  mine.matrix.on = is_cube ? 1 : 0;
  // Who wants Vec all the same asks for it: settle_for_vec().
  mine.core.buffers[0].capacity = is_cube ? 0 : run.buffer_bytes[0];
}

/// A tile, or a part of it, from the form of operands to boxes.
__device__ inline void copy_to_boxes(unsigned char* to, uint32_t to_lines, const KeptTile& tile, bool across,
                                     uint32_t line0, uint32_t element0, uint32_t count, uint32_t depth) {
  const kernel::OperandForm form{tile.key.lines, kernel::chunk_width(tile.key.length)};
  const kernel::OperandForm boxes{to_lines, 0};
  const unsigned char* const from = window() + tile.key.begin;
  kernel::on_lanes([=](kernel::Lanes lanes) {
    kernel::for_cells(lanes, count, depth, [=](uint32_t i, uint32_t k) {
      const uint32_t line = line0 + (across ? k : i);
      const uint32_t element = element0 + (across ? i : k);
      *reinterpret_cast<uint16_t*>(to + boxes.offset_in_boxes(i, k)) =
          *reinterpret_cast<const uint16_t*>(from + form.offset(line, element));
    });
  });
}

__device__ inline unsigned char* address_in(uint32_t buffer, uint32_t low) {
  const auto base = reinterpret_cast<uint64_t>(control().core.buffers[buffer].base);
  return reinterpret_cast<unsigned char*>(base + (low - static_cast<uint32_t>(base)));
}

PTO_OUTLINED __device__ inline void settle_all() {
  Control& mine = control();
  MatrixUnit& unit = mine.matrix;
  if (unit.sums.session != Sums::none) end_session(Registers::to_memory);
  if (unit.kept == 0) return;
  wait_loads(mine.copies.loads_begun);
  for (uint32_t side = 0; side < 2; ++side) {
    const Views& views = unit.views[side];
    for (uint32_t i = 0; i < kViews; ++i) {
      if (views.at[i] == kNowhere) continue;
      const OperandView::Part& part = views.of[i].part;
      copy_to_boxes(address_in(kLeftTiles + side, views.at[i]), part.extent, unit.tiles[views.tile[i]],
                    part.across != 0, part.line, part.element, part.count, part.depth);
    }
  }
  for (const KeptTile& tile : unit.tiles) {
    if (tile.key.begin == kNowhere) continue;
    copy_to_boxes(mine.core.buffers[kMatrices].base + tile.key.begin, tile.key.lines, tile, false, 0, 0, tile.key.lines,
                  tile.key.length);
  }
  forget_matrices();
}

/// Room for a tile; what overlaps it is settled.
PTO_OUTLINED __device__ inline uint32_t make_tile(uint32_t begin, uint32_t bytes) {
  MatrixUnit& unit = control().matrix;
  uint32_t free = kKeptTiles;
  bool apart = true;
  for (uint32_t i = 0; i < kKeptTiles; ++i) {
    const KeptTile& tile = unit.tiles[i];
    if (tile.key.begin == kNowhere) {
      free = i;
    } else if (begin < tile.key.begin + tile.bytes() && tile.key.begin < begin + bytes) {
      apart = false;
    }
  }
  if (!apart || free == kKeptTiles) {
    settle_all();
    free = 0;
  }
  unit.kept += 1;
  unit.tile_of_page[begin / kPage] = static_cast<uint8_t>(free);
  unit.tiles[free].state = {control().copies.loads_begun - 1, 0, 0, 0, 0, 0};
  return free;
}

__device__ __forceinline__ bool has_views(uint32_t tile) {
  const MatrixUnit& unit = control().matrix;
  uint32_t of_left;
  uint32_t of_right;
  static_assert(sizeof unit.views[0].tile == sizeof of_left);
  memcpy(&of_left, unit.views[0].tile, sizeof of_left);
  memcpy(&of_right, unit.views[1].tile, sizeof of_right);
  const uint32_t all = tile * 0x01010101;
  return (__vcmpeq4(of_left, all) | __vcmpeq4(of_right, all)) != 0;
}

/// Starts the load of a whole tile, for which all is ready. `element`: where it begins in its map.
__device__ __forceinline__ void start_kept_load(KeptTile& tile, uint32_t begin, uint32_t lines, uint32_t length,
                                                uint32_t entry, uint32_t element) {
  Control& mine = control();
  BulkCopies& copies = mine.copies;
  const uint32_t number = copies.loads_begun;
  const uint32_t slot = number % kLoads;
  copies.targets[slot] = {0, 0};  // nothing of Vec
  uint64_t* const barrier = &copies.loaded[slot];
  const uint32_t width = kernel::chunk_width(length);
  const uint32_t box_lines = box_lines_of(lines);
  const unsigned char* const map = map_at(entry);
  barrier_expect(barrier, lines * length * 2);
  uint32_t to = window_address() + begin;
  for (uint32_t at = 0; at < length; at += width) {
    for (uint32_t line = 0; line < lines; line += box_lines) {
      load_box(to, map, element + at, line, barrier);
      to += box_lines * width * 2;
    }
  }
  tile.state.load = number;
  tile.state.is_read = 0;
  copies.loads_begun = number + 1;
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

__device__ __forceinline__ uint64_t bytes_of_load(const TileKey& key) {
  return uint64_t{key.valid_lines - 1u} * key.pitch + key.valid_length * 2u;
}

/// A load into Mat whose tile is kept, whatever was there. False if kernels may not touch that memory.
PTO_OUTLINED __device__ inline bool load_anew(const unsigned char* memory, TileKey key) {
  Control& mine = control();
  MatrixUnit& unit = mine.matrix;
  BulkCopies& copies = mine.copies;
  const auto at = reinterpret_cast<uint64_t>(memory);
  const Extent extent = extent_of_map(at, bytes_of_load(key));
  if (extent.begin == 0) return false;
  const uint32_t bytes = uint32_t{key.lines} * key.length * 2;
  uint32_t id = unit.tile_of_page[key.begin / kPage];
  const KeptTile old = unit.tiles[id];
  const bool is_there = old.key.begin == key.begin && old.key.lines == key.lines && old.key.length == key.length;
  if (is_there && !has_views(id)) {
    wait_loads(old.state.load + 1);
    if (old.state.is_read != 0) wait_command(old.state.command);
  } else {
    if (is_there) settle_all();
    id = make_tile(key.begin, bytes);
  }
  KeptTile& tile = unit.tiles[id];
  tile.key = key;
  const auto element = static_cast<uint32_t>(at - extent.begin) / 2;
  const MapKey map{extent.begin, key.pitch, key.valid_length == key.length ? kWholeReach : element + key.valid_length,
                   key.valid_lines,
                   static_cast<uint16_t>(1 + box_of(kernel::chunk_width(key.length), box_lines_of(key.lines)))};
  const uint32_t entry = map_for(map, tile.state.map);
  tile.state.map = static_cast<uint16_t>(entry);
  tile.state.base = extent.begin;
  tile.state.bytes = extent.bytes;
  const Span span = span_of(memory, int64_t{key.pitch}, key.valid_lines, key.valid_length * 2);
  if (span.begin < copies.stored_end && copies.stored_begin < span.end) finish_stores();
  if (copies.loads_begun - copies.loads_ended == kLoads) wait_loads(copies.loads_ended + 1);
  if (copies.memory_changed != 0) {
    fence_copies();
    copies.memory_changed = copies.lanes_wrote = 0;
  } else {
    fence_shared_copies();
  }
  start_kept_load(tile, key.begin, key.lines, key.length, entry, element);
  mine.left.copies = 1;
  return true;
}

/// The same, fast where a whole tile of the same matrix was loaded there before and is done with.
template <uint32_t kLines, uint32_t kLength>
PTO_OUTLINED __device__ bool load_kept(const unsigned char* memory, TileKey key) {
  Control& mine = control();
  MatrixUnit& unit = mine.matrix;
  const BulkCopies& copies = mine.copies;
  const uint32_t id = unit.tile_of_page[key.begin / kPage];
  KeptTile& tile = unit.tiles[id];
  const TileKey old = tile.key;
  const KeptTile::State state = tile.state;
  const auto at = reinterpret_cast<uint64_t>(memory);
  const bool is_ready = are_same(old, key) && state.base != 0 && at >= state.base && at - state.base < kReach &&
                        at - state.base + bytes_of_load(key) <= state.bytes && key.valid_length == kLength &&
                        !has_views(id) && copies.memory_changed == 0 && copies.stored_begin == copies.stored_end &&
                        static_cast<int32_t>(copies.loads_ended - state.load) > 0 &&
                        copies.loads_begun - copies.loads_ended < kLoads;
  if (!is_ready) return load_anew(memory, key);
  if (state.is_read != 0) wait_command(state.command);
  start_kept_load(tile, key.begin, kLines, kLength, state.map, static_cast<uint32_t>(at - state.base) / 2);
  return true;
}

/// A part of a kept tile as a Left (`side` 0) or Right tile.
struct WantedView {
  uint32_t at;
  uint32_t begin;  // of the tile in Mat
  uint16_t lines;
  uint16_t length;
  OperandView::Part part;
};

__device__ __forceinline__ uint32_t view_bytes(const OperandView& view) {
  return uint32_t{view.part.extent} * view.part.depth_extent * 2;
}

template <uint32_t side, bool across>
__device__ __forceinline__ bool make_view(WantedView wanted) {
  MatrixUnit& unit = control().matrix;
  Views& views = unit.views[side];
  OperandView::Part& part = wanted.part;
  const uint32_t id = unit.tile_of_page[wanted.begin / kPage];
  const TileKey tile = unit.tiles[id].key;
  if (tile.begin != wanted.begin || tile.lines != wanted.lines || tile.length != wanted.length) return false;
  const uint32_t width = kernel::chunk_width(wanted.length);
  const kernel::OperandForm form{wanted.lines, width};
  if (part.line % 8 != 0 || part.element % (across ? width : kernel::kProductDepth) != 0) return false;
  const kernel::OperandPart place = kernel::part_of_operand(form, across, part.line, part.element);
  // The matrix unit takes whole blocks; what it reads behind the tile is not used, but it must be there.
  const uint32_t whole = side == 0 ? (part.count + 63u) / 64 * 64 : part.count <= 128 ? 128u : 256u;
  const uint32_t reach =
      across ? place.start + (whole + width - 1) / width * form.chunk_bytes()
             : place.start + form.chunk_bytes() * (wanted.length / width - 1) + whole * form.line_bytes();
  if (wanted.begin + reach > control().run->window_bytes) return false;
  // Its place.
  const uint32_t bytes = uint32_t{part.extent} * part.depth_extent * 2;
  uint32_t number = kViews;
  bool apart = true;
#pragma unroll
  for (uint32_t i = 0; i < kViews; ++i) {
    const uint32_t other = views.at[i];
    if (other == wanted.at) number = i;
  }
  if (number == kViews) {
    for (uint32_t i = 0; i < kViews; ++i) {
      const uint32_t other = views.at[i];
      if (other == kNowhere) {
        number = i;
      } else if (wanted.at - other < view_bytes(views.of[i]) || other - wanted.at < bytes) {
        apart = false;
      }
    }
    if (!apart || number == kViews) return false;
  } else {
    // More of the old one than this one replaces stays in the buffer.
    const OperandView::Part old = views.of[number].part;
    if (old.extent != part.extent || old.depth_extent != part.depth_extent || old.count > part.count ||
        old.depth > part.depth) {
      return false;
    }
  }
  part.across = across ? 1 : 0;
  part.ends_in_zero =
      across ? part.line + part.depth == tile.valid_lines : part.element + part.depth == tile.valid_length;
  part.tile = static_cast<uint16_t>(id);
  views.at[number] = wanted.at;
  views.tile[number] = static_cast<uint8_t>(id);
  views.of[number].operand = Operand{(window_address() + wanted.begin + place.start) / 16 | place.leading / 16 << 16,
                                     kernel::descriptor_high(form),
                                     static_cast<uint16_t>(place.chunk / 16),
                                     static_cast<uint16_t>(place.block / 16),
                                     static_cast<uint16_t>(place.first),
                                     static_cast<uint16_t>(place.per_chunk / 2)};
  views.of[number].part = part;
  return true;
}

template <uint32_t side>
__device__ __forceinline__ uint32_t view_at(uint32_t at) {
  const Views& views = control().matrix.views[side];
  uint32_t number = kViews;
#pragma unroll
  for (uint32_t i = 0; i < kViews; ++i) {
    if (views.at[i] == at) number = i;
  }
  return number;
}

/// A product of two tiles that may be views.
struct WantedProduct {
  uint32_t accumulator;
  uint32_t accumulator_rows;
  uint32_t left;
  uint32_t left_extent;
  uint32_t right;
  uint32_t right_extent;
  uint32_t rows;
  uint32_t depth;
  uint32_t cols;
};

enum class Begins : uint8_t { at_zero, at_accumulator };

template <bool is_bfloat16, Begins begins>
__device__ __forceinline__ bool post_product(const WantedProduct& wanted) {
  MatrixUnit& unit = control().matrix;
  const uint32_t left_number = view_at<0>(wanted.left);
  const uint32_t right_number = view_at<1>(wanted.right);
  if (left_number == kViews || right_number == kViews) return false;
  const OperandView left = unit.views[0].of[left_number];
  const OperandView right = unit.views[1].of[right_number];
  const bool fits = left.part.extent == wanted.left_extent && wanted.rows <= left.part.count &&
                    wanted.depth <= left.part.depth && right.part.extent == wanted.right_extent &&
                    wanted.cols <= right.part.count && wanted.depth <= right.part.depth && wanted.rows <= 256 &&
                    wanted.cols <= 256 && (wanted.rows <= 128 || wanted.cols <= 128);
  if (!fits) return false;
  if (wanted.depth % kernel::kProductDepth != 0 &&
      (wanted.depth != left.part.depth || wanted.depth != right.part.depth || left.part.ends_in_zero == 0 ||
       right.part.ends_in_zero == 0)) {
    return false;
  }
  KeptTile::State& left_state = unit.tiles[left.part.tile].state;
  KeptTile::State& right_state = unit.tiles[right.part.tile].state;
  wait_loads(left_state.load + 1);
  wait_loads(right_state.load + 1);
  const Sums session = wanted.cols > 128   ? Sums::rows128_cols256
                       : wanted.rows > 128 ? Sums::rows256_cols128
                                           : Sums::rows128_cols128;
  const Accumulated sums = unit.sums;
  const bool is_accumulator = sums.at == wanted.accumulator && sums.extent == wanted.accumulator_rows;
  if (sums.session != session || !is_accumulator || sums.rows != wanted.rows || sums.cols != wanted.cols) {
    if (sums.session != Sums::none) {
      const bool replaces =
          begins == Begins::at_zero && is_accumulator && wanted.rows >= sums.rows && wanted.cols >= sums.cols;
      end_session(replaces ? Registers::forgotten : Registers::to_memory);
    }
    unit.sums = {wanted.accumulator,
                 static_cast<uint16_t>(wanted.accumulator_rows),
                 static_cast<uint16_t>(wanted.rows),
                 static_cast<uint16_t>(wanted.cols),
                 0,
                 Sums::none};
    begin_session(session);
    if (begins == Begins::at_accumulator) post_accumulator(MatrixWork::fill);
  }
  MatrixCommand& command = next_command();
  command.work = multiply_work(is_bfloat16, right.part.across != 0);
  command.rows = wanted.rows;
  command.steps = (wanted.depth + kernel::kProductDepth - 1) / kernel::kProductDepth;
  command.onto = begins == Begins::at_zero ? 0 : 1;
  command.left = left.operand;
  command.right = right.operand;
  const uint32_t number = post_command();
  left_state.command = right_state.command = number;
  left_state.is_read = right_state.is_read = 1;
  return true;
}

/// Whether the sums that are in registers have these elements of an accumulator.
__device__ inline bool has_sums(uint32_t accumulator, uint32_t accumulator_rows, uint32_t rows, uint32_t cols) {
  const MatrixUnit& unit = control().matrix;
  return unit.sums.session != Sums::none && unit.sums.at == accumulator && unit.sums.extent == accumulator_rows &&
         rows <= unit.sums.rows && cols <= unit.sums.cols;
}

/// Complete when it returns.
__device__ inline void store_sums(unsigned char* memory, int64_t pitch, uint32_t rows, uint32_t cols, MatrixWork work) {
  MatrixCommand& command = next_command();
  command.work = work;
  command.rows = rows;
  command.cols = cols;
  command.memory = reinterpret_cast<uint64_t>(memory);
  command.pitch = pitch;
  wait_command(post_command());
  control().copies.memory_changed = control().copies.lanes_wrote = 1;
}

}  // namespace baton::cuda

namespace baton::kernel {

__device__ inline void settle_matrices() {
  const cuda::MatrixUnit& unit = cuda::control().matrix;
  if (unit.sums.session != cuda::Sums::none || unit.kept != 0) cuda::settle_all();
}

__device__ inline void settle_for_vec() {
  cuda::Control& mine = cuda::control();
  if (mine.matrix.on == 0) return;
  settle_matrices();
  mine.matrix.on = 0;
  mine.core.buffers[0].capacity = mine.run->buffer_bytes[0];
}

}  // namespace baton::kernel
