// TMOV and TEXTRACT from kept tiles of Mat to Left and Right: no byte moves, it is written down which part of which
// tile they are.
#pragma once

#include <pto/target/cuda/matrix_loads.hpp>

namespace baton::cuda {

/// A part of a kept tile as a Left (`side` 0) or Right tile.
struct WantedView {
  uint32_t at;
  uint32_t begin;  // of the tile in Mat
  OperandView::Part part;
};

PTO_INLINE __device__ uint32_t view_bytes(const OperandView::Part& part) {
  return part.extent() * part.depth_extent() * 2;
}

/// Where an operand begins in its tile, in bytes, and its distances.
template <bool across>
PTO_INLINE __device__ kernel::OperandPart place_of_operand(const OperandView::Part& part) {
  const uint32_t length = part.tile_size >> 16;
  return kernel::part_of_operand({part.tile_size & 0xffff, kernel::chunk_width(length)}, across, part.line(),
                                 part.element());
}

/// Up to where it reaches in the tile, in bytes. The matrix unit takes whole blocks; what it reads behind the tile is
/// not used, but it must be there.
template <uint32_t side, bool across>
PTO_INLINE __device__ uint32_t reach_of_operand(const OperandView::Part& part) {
  const uint32_t length = part.tile_size >> 16;
  const uint32_t width = kernel::chunk_width(length);
  const kernel::OperandForm form{part.tile_size & 0xffff, width};
  const uint32_t whole = side == 0 ? (part.count() + 63u) / 64 * 64 : part.count() <= 128 ? 128u : 256u;
  const uint32_t start = place_of_operand<across>(part).start;
  return across ? start + (whole + width - 1) / width * form.chunk_bytes()
                : start + form.chunk_bytes() * (length / width - 1) + whole * form.line_bytes();
}

/// What of a view follows from the tile that it is a part of.
template <bool across>
PTO_INLINE __device__ void connect_view(OperandView& view, const WantedView& wanted, uint32_t id,
                                        const KeptTile& tile) {
  const OperandView::Part& part = wanted.part;
  const kernel::OperandPart place = place_of_operand<across>(part);
  const uint32_t end = across ? part.line() + part.depth() : part.element() + part.depth();
  const uint32_t half = across ? tile.key.lines() / kPortions : tile.key.length() / kPortions;
  const bool is_split = tile.state.split == (across ? Split::lines : Split::lengths) &&
                        (across ? part.line() : part.element()) == 0 && half % kernel::kProductDepth == 0;
  view.operand.low = (window_address() + wanted.begin + place.start) / 16 | place.leading / 16 << 16;
  view.link = {.at = wanted.at,
               .load = phase_of_load(id, tile.state.loads),
               .first_steps = static_cast<uint16_t>(is_split ? half / kernel::kProductDepth : 0),
               .tile = static_cast<uint8_t>(id),
               .across = across ? uint8_t{1} : uint8_t{0},
               .ends_in_zero = end == (across ? tile.key.valid_lines() : tile.key.valid_length()) ? 1u : 0u};
}

/// A view, whatever was there.
template <uint32_t side, bool across>
PTO_OUTLINED __device__ bool make_view_anew(WantedView wanted) {
  MatrixUnit& unit = control().matrix;
  Views& views = unit.views[side];
  const OperandView::Part& part = wanted.part;
  const uint32_t id = find_tile(wanted.begin);
  if (id == kKeptTiles || unit.tiles[id].key.size != part.tile_size) return false;
  KeptTile& tile = unit.tiles[id];
  const uint32_t width = kernel::chunk_width(tile.key.length());
  if (part.line() % 8 != 0 || part.element() % (across ? width : kernel::kProductDepth) != 0) return false;
  if (wanted.begin + reach_of_operand<side, across>(part) > control().matrix.window_bytes) return false;
  // Its place.
  const uint32_t home = home_of_view(wanted.at);
  uint32_t number = kViews;
  uint32_t free = kViews;
  bool apart = true;
  for (uint32_t i = 0; i < kViews; ++i) {
    const OperandView& other = views.of[i];
    if (other.link.at == wanted.at) {
      number = i;
    } else if (other.link.at == kNowhere) {
      if (free == kViews || i == home) free = i;
    } else if (wanted.at - other.link.at < view_bytes(other.part) || other.link.at - wanted.at < view_bytes(part)) {
      apart = false;
    }
  }
  if (number == kViews) {
    if (!apart || free == kViews) return false;
    number = free;
  } else {
    // More of the old one than this one replaces stays in the buffer.
    const OperandView::Part& old = views.of[number].part;
    if (old.extents != part.extents || old.count() > part.count() || old.depth() > part.depth()) return false;
  }
  // Its portions next time, if they were others.
  const Split portions = across ? Split::lines : Split::lengths;
  if (tile.state.wanted != portions) {
    tile.state.wanted = portions;
    tile.state.base = 0;
  }
  const kernel::OperandPart place = place_of_operand<across>(part);
  OperandView& view = views.of[number];
  view.link.at = wanted.at;
  view.part = part;
  connect_view<across>(view, wanted, id, tile);
  view.operand.high = kernel::descriptor_high({tile.key.lines(), width});
  view.operand.chunk = static_cast<uint16_t>(place.chunk / 16);
  view.operand.block = static_cast<uint16_t>(place.block / 16);
  view.operand.first = static_cast<uint16_t>(place.first);
  view.operand.order = step_order(place.first, place.per_chunk, place.chunk / 16);
  views.tiles[number] = static_cast<uint16_t>(1u << id);
  return true;
}

/// The same, fast where the view is what was there, of another tile.
template <uint32_t side, bool across>
PTO_INLINE __device__ bool make_view(const WantedView& wanted) {
  MatrixUnit& unit = control().matrix;
  Views& views = unit.views[side];
  const uint32_t id = home_of(wanted.begin);
  const uint32_t number = home_of_view(wanted.at);
  const KeptTile tile = read_at_once(unit.tiles[id]);
  const OperandView old = read_at_once(views.of[number]);
  OperandView& view = views.of[number];
  const bool is_ready =
      static_cast<int>(tile.key.begin == wanted.begin) & static_cast<int>(tile.key.size == wanted.part.tile_size) &
      static_cast<int>(old.link.at == wanted.at) & static_cast<int>(are_same(old.part, wanted.part)) &
      static_cast<int>(tile.state.base != 0) & static_cast<int>(old.link.across == (across ? 1 : 0)) &
      static_cast<int>(wanted.begin + reach_of_operand<side, across>(wanted.part) <= unit.window_bytes);
  if (!is_ready) [[unlikely]]
    return make_view_anew<side, across>(wanted);
  connect_view<across>(view, wanted, id, tile);
  views.tiles[number] = static_cast<uint16_t>(1u << id);
  return tile.state.bytes != 0;  // true
}

/// The number of the view that has this address; kViews if there is none.
template <uint32_t side>
PTO_INLINE __device__ uint32_t view_at(uint32_t at) {
  const Views& views = control().matrix.views[side];
  uint32_t number = home_of_view(at);
  if (views.of[number].link.at == at) return number;
  for (number = 0; number < kViews && views.of[number].link.at != at; ++number) {
  }
  return number;
}

}  // namespace baton::cuda
