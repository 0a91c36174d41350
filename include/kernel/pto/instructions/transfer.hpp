// Elements between a tile and a tensor, once all is checked. Copies know bytes only; what converts or adds is compiled
// for its elements.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/global_access.hpp>
#include <pto/instructions/numbers.hpp>
#include <pto/instructions/tile_lines.hpp>
#include <pto/instructions/wide_pieces.hpp>
#include <pto/target/atomics.hpp>

namespace baton::kernel {

enum class Way : uint8_t { to_tile, from_tile };

/// Whether tile and tensor are the same run of elements.
PTO_INLINE AICORE bool is_without_gaps(const TileView& tile, const GlobalView& tensor) {
  if (tile.order.boxed) return false;
  const bool by_rows = tile.order.bands_are_rows;
  const bool whole_lines = by_rows ? tile.valid_cols == tile.order.cols || tile.valid_rows == 1
                                   : tile.valid_rows == tile.order.rows || tile.valid_cols == 1;
  return whole_lines && is_packed(tensor.layout, tensor.extents);
}

/// `lines` of a length that the compiler knows.
template <size_t bytes>
PTO_INLINE AICORE void copy_short_lines(unsigned char* to, int64_t to_pitch, const unsigned char* from,
                                        int64_t from_pitch, int64_t lines) {
  for (int64_t line = 0; line < lines; ++line) memcpy(to + line * to_pitch, from + line * from_pitch, bytes);
}

/// Pitches count bytes.
PTO_SHARED AICORE inline void copy_lines(unsigned char* to, int64_t to_pitch, const unsigned char* from,
                                         int64_t from_pitch, int64_t lines, int64_t bytes) {
  if (to_pitch == bytes && from_pitch == bytes) {
    memcpy(to, from, static_cast<size_t>(lines * bytes));
  } else if (bytes == 32) {
    copy_short_lines<32>(to, to_pitch, from, from_pitch, lines);
  } else if (bytes == 64) {
    copy_short_lines<64>(to, to_pitch, from, from_pitch, lines);
  } else {
    for (int64_t line = 0; line < lines; ++line) {
      memcpy(to + line * to_pitch, from + line * from_pitch, static_cast<size_t>(bytes));
    }
  }
}

/// The tile's lines that a tensor's layout fills: rows, or columns for DN. Of most tiles they follow each other,
/// without boxes whole, in boxes a run of each after the other through a band.
struct TileLines {
  bool along_rows;
  bool follow;
  int64_t run;    // neighbours along a line
  int64_t pitch;  // from a line to the next where they follow each other

  PTO_INLINE AICORE TileLines(const TileOrder& order, pto::Layout layout)
      : along_rows(layout != pto::Layout::DN),
        follow(along_rows == (order.boxed ? order.boxes_are_rows : order.bands_are_rows) &&
               (!order.boxed || order.bands_are_rows != order.boxes_are_rows)),
        run(along_rows ? order.row_run() : order.col_run()),
        pitch(order.boxed ? run : order.band) {}
};

/// As many as a box has: what they touch is side by side in the tile, and stays in the nearest cache in the tensor.
inline constexpr int64_t kLinesTogether = 16;

/// Calls body(address in the tile, address in the tensor, count, lines) for each run of `count` neighbours; of up to
/// `together` lines at once where they follow each other in boxes of the tile, of all of them where there are none.
template <typename Body>
PTO_INLINE AICORE void for_each_run(const TileView& tile, const GlobalView& tensor, int64_t together, Body body) {
  const TileLines order(tile.order, tensor.layout);
  const int64_t lines = tensor.extents.shape[outer_dimension(tensor.layout)];
  const int64_t length = tensor.extents.shape[inner_dimension(tensor.layout)];
  const int64_t pitch = tensor.extents.stride[outer_dimension(tensor.layout)];
  const int64_t group = order.follow ? (tile.order.boxed ? together : lines) : 1;
  for_each_plane(tensor.layout, tensor.extents, [&](int64_t offset, int64_t line0, int64_t first) PTO_INLINE_LAMBDA {
    for (int64_t line = 0; line < lines; line += group) {
      const int64_t lines_here = lines - line < group ? lines - line : group;
      for (int64_t done = 0; done < length;) {
        const int64_t at = first + done;
        const int64_t whole = order.run - (tile.order.boxed ? at & (order.run - 1) : at);
        const int64_t here = length - done < whole ? length - done : whole;
        body(order.along_rows ? tile.at(line0 + line, at) : tile.at(at, line0 + line),
             tensor.data + (offset + line * pitch + done) * tensor.element_bytes, here, lines_here);
        done += here;
      }
    }
  });
}

PTO_SHARED AICORE inline void copy_bytes(const TileView& tile, const GlobalView& tensor, Way way) {
  const bool to_tile = way == Way::to_tile;
  const int64_t bytes = tensor.element_bytes;
  if (is_without_gaps(tile, tensor)) {
    const auto all = static_cast<size_t>(tile.valid_rows * tile.valid_cols * bytes);
    memcpy(to_tile ? tile.data : tensor.data, to_tile ? tensor.data : tile.data, all);
    return;
  }
  const TileLines order(tile.order, tensor.layout);
  const int64_t run = order.run * bytes;
  const int64_t tile_pitch = order.pitch * bytes;
  const int64_t tensor_pitch = tensor.extents.stride[outer_dimension(tensor.layout)] * bytes;
  const int64_t length = tensor.extents.shape[inner_dimension(tensor.layout)];
  if (!to_tile && tile.order.boxed && order.follow && tensor.layout != pto::Layout::NZ && length % order.run == 0) {
    // Line by line: what is written in the tensor lies side by side.
    const int64_t lines = tensor.extents.shape[outer_dimension(tensor.layout)];
    for_each_plane(tensor.layout, tensor.extents, [&](int64_t offset, int64_t line0, int64_t) PTO_INLINE_LAMBDA {
      unsigned char* to = tensor.data + offset * bytes;
      const unsigned char* from = tile.data + line0 * tile_pitch;
      const int64_t band = tile.order.band * bytes;
      const int64_t runs = length / order.run;
      for (int64_t line = 0; line < lines; ++line, to += tensor_pitch, from += tile_pitch) {
        if (run == 64) {
          copy_short_lines<64>(to, run, from, band, runs);
        } else {
          copy_lines(to, run, from, band, runs, run);
        }
      }
    });
    return;
  }
  for_each_run(tile, tensor, kLinesTogether,
               [=](unsigned char* at, unsigned char* there, int64_t count, int64_t lines) PTO_INLINE_LAMBDA {
                 copy_lines(to_tile ? at : there, to_tile ? tile_pitch : tensor_pitch, to_tile ? there : at,
                            to_tile ? tensor_pitch : tile_pitch, lines, count * bytes);
               });
}

/// Elements of an accumulator as elements of a tensor.
template <typename Target, typename Source>
PTO_INLINE AICORE void convert_line(Target* target, const Source* source, int64_t count) {
  if constexpr (std::is_same_v<Source, float> && !is_whole<Target> && sizeof(Target) == 2) {
    narrow_to_nearest(target, source, static_cast<size_t>(count));
  } else {
    for (int64_t i = 0; i < count; ++i) target[i] = stored_as<Target>(source[i]);
  }
}

/// Calls body(element of the tensor, element of the tile, count) for each run.
template <typename Target, typename Source, typename Body>
PTO_INLINE AICORE void for_each_line(const TileView& tile, const GlobalView& tensor, Body body) {
  const int64_t tile_pitch = TileLines(tile.order, tensor.layout).pitch;
  const int64_t tensor_pitch = tensor.extents.stride[outer_dimension(tensor.layout)];
  for_each_run(tile, tensor, 1,
               [=](unsigned char* at, unsigned char* there, int64_t count, int64_t lines) PTO_INLINE_LAMBDA {
                 auto* target = reinterpret_cast<Target*>(there);
                 const auto* source = reinterpret_cast<const Source*>(at);
                 for (; lines > 0; --lines, target += tensor_pitch, source += tile_pitch) body(target, source, count);
               });
}

template <typename Target, typename Source>
PTO_SHARED AICORE void convert_elements(const TileView& tile, const GlobalView& tensor) {
  for_each_line<Target, Source>(tile, tensor,
                                [](Target* target, const Source* source, int64_t count)
                                    PTO_INLINE_LAMBDA { convert_line(target, source, count); });
}

template <typename Target, typename Source>
PTO_SHARED AICORE void add_elements(const TileView& tile, const GlobalView& tensor) {
  for_each_line<Target, Source>(tile, tensor,
                                [](Target* target, const Source* source, int64_t count) PTO_INLINE_LAMBDA {
                                  for (int64_t i = 0; i < count; ++i)
                                    atomic_update(target + i, stored_as<Target>(source[i]), AddNumbers{});
                                });
}

}  // namespace baton::kernel
