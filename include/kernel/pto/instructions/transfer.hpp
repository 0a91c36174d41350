// Elements between a tile and a tensor, once all is checked. Copies know bytes only; what converts or adds is compiled
// for its elements.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/global_access.hpp>
#include <pto/instructions/lane_pieces.hpp>
#include <pto/instructions/numbers.hpp>
#include <pto/instructions/tile_lines.hpp>
#include <pto/instructions/wide_pieces.hpp>
#include <pto/target/atomics.hpp>
#include <pto/target/bulk_copy.hpp>
#include <pto/target/lanes.hpp>

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

/// Several of these at once are on their way from memory to a lane.
inline constexpr uint32_t kCopiesTogether = 4;

/// One line of `count` times 16 bytes.
PTO_INLINE AICORE void copy_wide_line_of_lane(Lanes lanes, LaneBytes* to, const LaneBytes* from, uint32_t count) {
  uint32_t at = lanes.lane;
  for (; at + (kCopiesTogether - 1) * lanes.count < count; at += kCopiesTogether * lanes.count) {
    LaneBytes some[kCopiesTogether];
    PTO_UNROLL
    for (uint32_t k = 0; k < kCopiesTogether; ++k) some[k] = from[at + k * lanes.count];
    PTO_UNROLL
    for (uint32_t k = 0; k < kCopiesTogether; ++k) to[at + k * lanes.count] = some[k];
  }
  for (; at < count; at += lanes.count) to[at] = from[at];
}

/// Lines of which each lane copies its share, 16 bytes at once where addresses allow. Pitches count bytes.
PTO_INLINE AICORE void copy_lines_of_lane(Lanes lanes, unsigned char* to, int64_t to_pitch, const unsigned char* from,
                                          int64_t from_pitch, int64_t lines, int64_t bytes) {
  const auto rows = static_cast<uint32_t>(lines);
  if (lines == 1 && is_wide(to, 0) && is_wide(from, 0) && bytes % kLaneBytes == 0) {
    copy_wide_line_of_lane(lanes, reinterpret_cast<LaneBytes*>(to), reinterpret_cast<const LaneBytes*>(from),
                           static_cast<uint32_t>(bytes / kLaneBytes));
  } else if (is_wide(to, to_pitch) && is_wide(from, from_pitch) && bytes % kLaneBytes == 0) {
    for_cells(lanes, rows, static_cast<uint32_t>(bytes / kLaneBytes), [=](uint32_t row, uint32_t at) PTO_INLINE_LAMBDA {
      reinterpret_cast<LaneBytes*>(to + row * to_pitch)[at] =
          reinterpret_cast<const LaneBytes*>(from + row * from_pitch)[at];
    });
  } else {
    for_cells(lanes, rows, static_cast<uint32_t>(bytes), [=](uint32_t row, uint32_t at) PTO_INLINE_LAMBDA {
      to[row * to_pitch + at] = from[row * from_pitch + at];
    });
  }
}

/// Pitches count bytes.
PTO_ONCE PTO_SHARED AICORE void copy_lines(unsigned char* to, int64_t to_pitch, const unsigned char* from,
                                           int64_t from_pitch, int64_t lines, int64_t bytes) {
  if (kManyLanes) {
    on_lanes<LanesWrite::memory>(
        [=](Lanes lanes) { copy_lines_of_lane(lanes, to, to_pitch, from, from_pitch, lines, bytes); });
  } else if (to_pitch == bytes && from_pitch == bytes) {
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

PTO_OUTLINED AICORE inline void copy_lines_outlined(LineCopy copy, Way way) {
  if (way == Way::to_tile) {
    copy_lines(copy.tile, copy.tile_pitch, copy.memory, copy.memory_pitch, copy.lines, copy.bytes);
  } else {
    copy_lines(copy.memory, copy.memory_pitch, copy.tile, copy.tile_pitch, copy.lines, copy.bytes);
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

/// Whether no two elements of a tensor lie on the same bytes, as far as its strides tell. Where they do, the last one
/// that is stored stays, so one lane stores them all.
PTO_INLINE AICORE bool has_lines_apart(const GlobalView& tensor) {
  const int order[4] = {outer_dimension(tensor.layout), 2, 1, 0};
  int64_t reach = tensor.extents.shape[inner_dimension(tensor.layout)];
  for (const int dim : order) {
    if (tensor.extents.shape[dim] == 1) continue;
    if (tensor.extents.stride[dim] < reach) return false;
    reach += (tensor.extents.shape[dim] - 1) * tensor.extents.stride[dim];
  }
  return true;
}

/// The same runs as those of copy_bytes(), each divided among the lanes.
PTO_OUTLINED AICORE inline void copy_bytes_on_lanes(TileView tile, GlobalView tensor, Way way) {
  const bool alone = way == Way::from_tile && !has_lines_apart(tensor);
  on_lanes<LanesWrite::memory>([=](Lanes lanes) {
    if (alone && lanes.lane != 0) return;
    if (alone) lanes.count = 1;
    const int64_t bytes = tensor.element_bytes;
    const int64_t tile_pitch = TileLines(tile.order, tensor.layout).pitch * bytes;
    const int64_t tensor_pitch = tensor.extents.stride[outer_dimension(tensor.layout)] * bytes;
    for_each_run(tile, tensor, kLinesTogether,
                 [=](unsigned char* at, unsigned char* there, int64_t count, int64_t lines) PTO_INLINE_LAMBDA {
                   if (way == Way::to_tile) {
                     copy_lines_of_lane(lanes, at, tile_pitch, there, tensor_pitch, lines, count * bytes);
                   } else {
                     copy_lines_of_lane(lanes, there, tensor_pitch, at, tile_pitch, lines, count * bytes);
                   }
                 });
  });
}

PTO_ONCE PTO_SHARED AICORE void copy_bytes(const TileView& tile, const GlobalView& tensor, Way way) {
  if (kManyLanes) return copy_bytes_on_lanes(tile, tensor, way);
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

/// Copies whole lines of Vec while the core goes on, if the core can: false if copy_bytes() has to.
PTO_INLINE AICORE bool start_copy(const TileView& tile, const GlobalView& tensor, Way way) {
  if (!kBulkCopies || tile.loc != static_cast<uint8_t>(pto::TileType::Vec) || tile.order.boxed) {
    finish_copies();
    return false;
  }
  const int64_t bytes = tensor.element_bytes;
  LineCopy copy{tile.data, 0, tensor.data, 0, 1, tile.valid_rows * tile.valid_cols * bytes};
  if (!is_without_gaps(tile, tensor)) {
    const TileLines order(tile.order, tensor.layout);
    const int64_t* const shape = tensor.extents.shape;
    if (!order.follow || shape[0] * shape[1] * shape[2] != 1 || !has_lines_apart(tensor)) {
      finish_copies();
      return false;
    }
    copy.tile_pitch = order.pitch * bytes;
    copy.memory_pitch = tensor.extents.stride[outer_dimension(tensor.layout)] * bytes;
    copy.lines = shape[outer_dimension(tensor.layout)];
    copy.bytes = shape[inner_dimension(tensor.layout)] * bytes;
  }
  return way == Way::to_tile ? start_load(copy) : start_store(copy);
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

/// Calls body(target, source) for each pair of elements: lines are divided among the lanes.
template <typename Target, typename Source, typename Body>
PTO_INLINE AICORE void for_elements_on_lanes(const TileView& tile, const GlobalView& tensor, Body body) {
  const bool alone = !has_lines_apart(tensor);
  on_lanes<LanesWrite::memory>([=](Lanes lanes) {
    if (alone && lanes.lane != 0) return;
    if (alone) lanes.count = 1;
    for_each_line<Target, Source>(tile, tensor,
                                  [=](Target* target, const Source* source, int64_t count) PTO_INLINE_LAMBDA {
                                    for (int64_t i = lanes.lane; i < count; i += lanes.count) {
                                      body(target + i, source + i);
                                    }
                                  });
  });
}

template <typename Target, typename Source>
PTO_SHARED AICORE void convert_elements(const TileView& tile, const GlobalView& tensor) {
  if constexpr (kManyLanes) {
    for_elements_on_lanes<Target, Source>(tile, tensor, [](Target* target, const Source* source) PTO_INLINE_LAMBDA {
      *target = stored_as<Target>(*source);
    });
  } else {
    for_each_line<Target, Source>(tile, tensor,
                                  [](Target* target, const Source* source, int64_t count)
                                      PTO_INLINE_LAMBDA { convert_line(target, source, count); });
  }
}

template <typename Target, typename Source>
PTO_SHARED AICORE void add_elements(const TileView& tile, const GlobalView& tensor) {
  const auto add = [](Target* target, const Source* source)
                       PTO_INLINE_LAMBDA { atomic_update(target, stored_as<Target>(*source), AddNumbers{}); };
  if constexpr (kManyLanes) {
    for_elements_on_lanes<Target, Source>(tile, tensor, add);
  } else {
    for_each_line<Target, Source>(tile, tensor,
                                  [=](Target* target, const Source* source, int64_t count) PTO_INLINE_LAMBDA {
                                    for (int64_t i = 0; i < count; ++i) add(target + i, source + i);
                                  });
  }
}

}  // namespace baton::kernel
