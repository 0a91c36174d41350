// TMOV, TEXTRACT: between on-chip buffers.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/events.hpp>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/matrix_tiles.hpp>
#include <pto/instructions/numbers.hpp>
#include <pto/instructions/tile_lines.hpp>
#include <pto/target/transpose.hpp>
#include <pto/target/vector_loop.hpp>

namespace baton::kernel {

/// Which buffers are connected.
template <typename Dst, typename Src>
constexpr AICORE bool can_move() {
  using enum pto::TileType;
  if (lies_in<Src, Mat>) return lies_in<Dst, Left, Right, Bias>;
  if (lies_in<Src, Acc>) return lies_in<Dst, Mat, Vec>;
  return lies_in<Src, Vec> && lies_in<Dst, Vec>;
}

template <typename Src>
constexpr AICORE int move_pipe() {
  using enum pto::TileType;
  return lies_in<Src, Mat> ? PIPE_MTE1 : lies_in<Src, Acc> ? PIPE_FIX : PIPE_V;
}

/// A part of the destination, one element after the other.
template <typename To, typename From>
PTO_INLINE AICORE void move_elements(const TileView& dst, const TileView& src, Corner origin, int64_t first_row,
                                     int64_t first_col, int64_t rows, int64_t cols) {
  const Axis to_rows = dst.order.row_axis();
  const Axis to_cols = dst.order.col_axis();
  const Axis from_rows = src.order.row_axis();
  const Axis from_cols = src.order.col_axis();
  const int64_t to_pitch = to_cols.pitch();
  const int64_t from_pitch = from_cols.pitch();
  for (int64_t row = first_row; row < first_row + rows; ++row) {
    To* const to = reinterpret_cast<To*>(dst.data) + to_rows.offset(row);
    const From* const from = reinterpret_cast<const From*>(src.data) + from_rows.offset(origin.row + row);
    if (to_pitch != 0 && from_pitch != 0) {
      const From* const first = from + (origin.col + first_col) * from_pitch;
      for (int64_t k = 0; k < cols; ++k) to[(first_col + k) * to_pitch] = stored_as<To>(first[k * from_pitch]);
      continue;
    }
    for (int64_t col = first_col; col < first_col + cols; ++col) {
      to[to_cols.offset(col)] = stored_as<To>(from[from_cols.offset(origin.col + col)]);
    }
  }
}

/// The same on lanes, from a tile that has no byte of the other one.
template <typename Dst, typename Src>
PTO_INLINE AICORE void move_on_lanes(const Dst& dst, const Src& src, int64_t row0, int64_t col0) {
  on_lanes([=](Lanes lanes) {
    for_cells(lanes, static_cast<uint32_t>(dst.GetValidRow()), static_cast<uint32_t>(dst.GetValidCol()),
              [&](uint32_t row, uint32_t col) PTO_INLINE_LAMBDA {
                *element_at(dst, row, col) = stored_as<typename Dst::DType>(*element_at(src, row0 + row, col0 + col));
              });
  });
}

/// Between tiles that lie by rows and by columns, a block of 32-byte lines at a time where both have boxes. Elements
/// are as many bytes as a Word.
template <typename Word>
PTO_SHARED AICORE void move_transposing(const TileView& dst, const TileView& src, Corner origin) {
  const bool from_rows = lies_in_rows(src.order);
  constexpr int kSide = pto::BLOCK_BYTE_SIZE / int{sizeof(Word)};
  const int64_t src_run = from_rows ? src.order.row_run() : src.order.col_run();
  const int64_t dst_run = from_rows ? dst.order.col_run() : dst.order.row_run();
  // Lines follow each other through a band only if boxes and bands go different ways.
  const bool whole = src_run == kSide && dst_run == kSide && src.order.bands_are_rows != from_rows &&
                     dst.order.bands_are_rows == from_rows && (from_rows ? origin.col : origin.row) % kSide == 0;
  const int64_t rows = dst.valid_rows;
  const int64_t cols = dst.valid_cols;
  const Axis to_rows = dst.order.row_axis();
  const Axis to_cols = dst.order.col_axis();
  const Axis from_lines = src.order.row_axis();
  const Axis from_cols = src.order.col_axis();
  if (!whole) return move_elements<Word, Word>(dst, src, origin, 0, 0, rows, cols);
  for (int64_t row = 0; row < rows; row += kSide) {
    const int64_t rows_here = rows - row < kSide ? rows - row : kSide;
    Word* const to = reinterpret_cast<Word*>(dst.data) + to_rows.offset(row);
    for (int64_t col = 0; col < cols; col += kSide) {
      const int64_t cols_here = cols - col < kSide ? cols - col : kSide;
      if (rows_here == kSide && cols_here == kSide) {
        // Lines follow each other, so the source's may begin in the middle of a box.
        const Word* const from = reinterpret_cast<const Word*>(src.data) + from_lines.offset(origin.row + row) +
                                 from_cols.offset(origin.col + col);
        transpose_block<kSide>(to + to_cols.offset(col), kSide, from, kSide);
      } else {
        move_elements<Word, Word>(dst, src, origin, row, col, rows_here, cols_here);
      }
    }
  }
}

template <size_t bytes>
PTO_INLINE AICORE void move_short_lines(unsigned char* to, int64_t to_pitch, const unsigned char* from,
                                        int64_t from_pitch, int64_t lines) {
  for (int64_t line = 0; line < lines; ++line) move_bytes(to + line * to_pitch, from + line * from_pitch, bytes);
}

/// Along the lines in which both tiles lie.
PTO_ONCE PTO_SHARED AICORE void move_lines(const TileView& dst, const TileView& src, Corner origin) {
  const bool by_rows = lies_in_rows(dst.order);
  const int64_t lines = by_rows ? dst.valid_rows : dst.valid_cols;
  const int64_t count = by_rows ? dst.valid_cols : dst.valid_rows;
  const int64_t run = by_rows ? dst.order.row_run() : dst.order.col_run();
  const int64_t bytes = dst.order.element_bytes;
  // Whole bands of both: the lines of a run's width follow each other.
  if (dst.order.boxed && src.order.boxed && dst.order.bands_are_rows != by_rows &&
      src.order.bands_are_rows != by_rows && (by_rows ? src.order.row_run() : src.order.col_run()) == run &&
      (by_rows ? origin.col : origin.row) % run == 0) {
    for (int64_t at = 0; at < count; at += run) {
      move_bytes(by_rows ? dst.at(0, at) : dst.at(at, 0),
                 by_rows ? src.at(origin.row, origin.col + at) : src.at(origin.row + at, origin.col),
                 static_cast<size_t>(lines * run * bytes));
    }
    return;
  }
  // All lines as one, where none has gaps behind it.
  const int64_t pitch = by_rows ? dst.order.cols : dst.order.rows;
  if (!dst.order.boxed && !src.order.boxed && count == pitch && pitch == (by_rows ? src.order.cols : src.order.rows)) {
    return move_bytes(dst.data, by_rows ? src.at(origin.row, 0) : src.at(0, origin.col),
                      static_cast<size_t>(lines * count * bytes));
  }
  CommonRuns(dst, src, origin)
      .for_each([=](unsigned char* to, const unsigned char* from, int64_t n, int64_t together, int64_t to_pitch,
                    int64_t from_pitch) PTO_INLINE_LAMBDA {
        // The lines of boxes.
        if (n * bytes == 32) return move_short_lines<32>(to, to_pitch, from, from_pitch, together);
        if (n * bytes == 64) return move_short_lines<64>(to, to_pitch, from, from_pitch, together);
        for (int64_t line = 0; line < together; ++line) {
          move_bytes(to + line * to_pitch, from + line * from_pitch, static_cast<size_t>(n * bytes));
        }
      });
}

/// Elements of an accumulator as elements of another type.
template <typename To, typename From>
PTO_SHARED AICORE void move_converting(const TileView& dst, const TileView& src, Corner origin) {
  if (lies_in_rows(dst.order) != lies_in_rows(src.order)) {
    return move_elements<To, From>(dst, src, origin, 0, 0, dst.valid_rows, dst.valid_cols);
  }
  CommonRuns(dst, src, origin)
      .for_each([](unsigned char* to, const unsigned char* from, int64_t n, int64_t together, int64_t to_pitch,
                   int64_t from_pitch) PTO_INLINE_LAMBDA {
        for (int64_t line = 0; line < together; ++line) {
          convert_line(reinterpret_cast<To*>(to + line * to_pitch),
                       reinterpret_cast<const From*>(from + line * from_pitch), n);
        }
      });
}

enum class Moves : uint8_t { all, part };

/// Checks the tiles and tells the core.
PTO_ONCE PTO_SHARED AICORE void begin_move(const BatonPlace& place, const TileView& dst, const TileView& src,
                                           Moves what, Corner origin, int pipe) {
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  if (what == Moves::all) check_same_valid(place, "dst", dst, "src", src);
  if (kChecks && what == Moves::part &&
      (dst.valid_rows > src.order.rows - origin.row || dst.valid_cols > src.order.cols - origin.col)) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, dst.valid_rows, " x ", dst.valid_cols, " elements at (", origin.row, ", ",
         origin.col, ") are not within src, which is ", src.order.rows, " x ", src.order.cols);
  }
  issue(place, pipe_bit(pipe), region_of(src, BATON_READS, origin.row, origin.col, dst.valid_rows, dst.valid_cols),
        writes(dst));
}

/// dst(r, c) = src(origin.row + r, origin.col + c) over dst's valid region.
template <typename Dst, typename Src>
AICORE void move_region(const BatonPlace& place, Dst& dst, Src& src, Moves what, Corner origin) {
  using Element = typename Dst::DType;
  using Stored = typename Src::DType;
  static_assert(can_move<Dst, Src>(), "TMOV, TEXTRACT: Mat to Left, Right or Bias; Acc to Mat or Vec; Vec to Vec");
  if constexpr (lies_in<Src, pto::TileType::Acc>) {
    static_assert(is_one_of<Element, float, int32_t, half, bfloat16_t>,
                  "TMOV from Acc: to float, int32, half or bfloat16");
  } else {
    static_assert(std::is_same_v<Element, Stored>, "TMOV, TEXTRACT: element types differ");
  }
  const TileView to(dst);
  const TileView from(src);
  begin_move(place, to, from, what, origin, move_pipe<Src>());
  settle_tiles<Dst, Src>();
  if constexpr (kManyLanes) {
    if (are_apart(to, whole_of(from))) return move_on_lanes(dst, src, origin.row, origin.col);
  }
  if constexpr (!std::is_same_v<Element, Stored>) {
    move_converting<Element, Stored>(to, from, origin);
  } else if constexpr (lies_by_rows<Dst> != lies_by_rows<Src>) {
    move_transposing<UnsignedOf<sizeof(Element)>>(to, from, origin);
  } else {
    move_lines(to, from, origin);
  }
}

template <typename Dst, typename Src>
PTO_INLINE AICORE void move_tile(Dst& dst, Src& src, Where where) {
  move_region(place_of("TMOV", where), dst, src, Moves::all, {0, 0});
}

template <typename Dst, typename Src>
PTO_INLINE AICORE void extract_tile(Dst& dst, Src& src, int row0, int col0, Where where) {
  move_region(place_of("TEXTRACT", where), dst, src, Moves::part, {row0, col0});
}

// What the matrix unit might have served: out of the way of what it does.
template <typename Dst, typename Src>
PTO_OUTLINED AICORE void move_where_it_lies(Dst dst, Src src, Where where) {
  move_tile(dst, src, where);
}
template <typename Dst, typename Src>
PTO_OUTLINED AICORE void extract_where_it_lies(Dst dst, Src src, int row0, int col0, Where where) {
  extract_tile(dst, src, row0, col0, where);
}

}  // namespace baton::kernel

namespace pto {

template <typename Dst, typename Src>
AICORE RecordEvent TMOV(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  if constexpr (kMatrixUnit && lies_in<Src, TileType::Mat>) {
    if (dst.GetValidRow() == src.GetValidRow() && dst.GetValidCol() == src.GetValidCol() &&
        view_operand(dst, src, 0, 0)) [[likely]] {
      return {};
    }
    move_where_it_lies(dst, src, where);
  } else {
    move_tile(dst, src, where);
  }
  return {};
}
PTO_WITH_EVENTS(TMOV)

/// The part of `src` that begins at (row0, col0) and has the valid size of `dst`.
template <typename Dst, typename Src>
AICORE RecordEvent TEXTRACT(Dst& dst, Src& src, uint16_t row0 = 0, uint16_t col0 = 0,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  if constexpr (kMatrixUnit && lies_in<Src, TileType::Mat>) {
    if (!view_operand(dst, src, row0, col0)) [[unlikely]]
      extract_where_it_lies(dst, src, row0, col0, where);
  } else {
    extract_tile(dst, src, row0, col0, where);
  }
  return {};
}
PTO_WITH_EVENTS(TEXTRACT)

}  // namespace pto
