// Whole tiles on many lanes, whatever their order: filled, expanded, lost.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/common/tile_view.hpp>
#include <pto/target/lanes.hpp>

namespace baton::kernel {

/// Whether the bytes from the first to the last one of two regions are apart: then lanes cannot get in each other's
/// way.
PTO_INLINE AICORE bool are_apart(const void* first, int64_t first_bytes, const void* second, int64_t second_bytes) {
  const auto a = reinterpret_cast<uintptr_t>(first);
  const auto b = reinterpret_cast<uintptr_t>(second);
  return a + static_cast<uintptr_t>(first_bytes) <= b || b + static_cast<uintptr_t>(second_bytes) <= a;
}
PTO_INLINE AICORE bool are_apart(const TileView& first, const TileView& second) {
  return are_apart(first.data, first.footprint().reach(), second.data, second.footprint().reach());
}

/// A tile as if all of it were valid.
PTO_INLINE AICORE TileView whole_of(TileView tile) {
  tile.valid_rows = tile.order.rows;
  tile.valid_cols = tile.order.cols;
  return tile;
}

PTO_INLINE AICORE void copy_element(void* to, const void* from, uint32_t bytes) {
  switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
  }
}

/// A number of any type.
struct AnyElement {
  alignas(8) unsigned char bytes[8];
};

PTO_INLINE AICORE void fill_on_lanes(const TileView& dst, const void* value) {
  AnyElement element{};
  copy_element(element.bytes, value, dst.order.element_bytes);
  on_lanes([=](Lanes lanes) {
    for_cells(lanes, static_cast<uint32_t>(dst.valid_rows), static_cast<uint32_t>(dst.valid_cols),
              [&](uint32_t row, uint32_t col)
                  PTO_INLINE_LAMBDA { copy_element(dst.at(row, col), element.bytes, dst.order.element_bytes); });
  });
}

enum class Repeats : uint8_t { column, row };

/// The first column, or row, of `vector` all over `dst`, which has no byte of it.
PTO_INLINE AICORE void expand_on_lanes(const TileView& dst, const TileView& vector, Repeats what) {
  on_lanes([=](Lanes lanes) {
    for_cells(lanes, static_cast<uint32_t>(dst.valid_rows), static_cast<uint32_t>(dst.valid_cols),
              [&](uint32_t row, uint32_t col) PTO_INLINE_LAMBDA {
                copy_element(dst.at(row, col), what == Repeats::column ? vector.at(row, 0) : vector.at(0, col),
                             dst.order.element_bytes);
              });
  });
}

/// `lines` of `bytes` bytes, `pitch` apart, become `value`.
PTO_INLINE AICORE void set_lines_on_lanes(unsigned char* at, int64_t pitch, int64_t lines, int64_t bytes, int value) {
  on_lanes([=](Lanes lanes) {
    for_cells(lanes, static_cast<uint32_t>(lines), static_cast<uint32_t>(bytes),
              [=](uint32_t line, uint32_t byte)
                  PTO_INLINE_LAMBDA { at[line * pitch + byte] = static_cast<unsigned char>(value); });
  });
}

}  // namespace baton::kernel
