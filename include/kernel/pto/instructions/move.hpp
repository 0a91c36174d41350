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

/// One element after the other; the types may differ.
template <typename Dst, typename Src>
AICORE void move_elements(const Dst& dst, const Src& src, int64_t row0, int64_t col0, int64_t first_row,
                          int64_t first_col, int64_t rows, int64_t cols) {
  using Element = typename Dst::DType;
  for (int64_t row = first_row; row < first_row + rows; ++row) {
    for (int64_t col = first_col; col < first_col + cols; ++col) {
      *element_at(dst, row, col) = stored_as<Element>(*element_at(src, row0 + row, col0 + col));
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

/// Between boxes that are stored by rows and boxes that are stored by columns, a block of 32-byte lines at a time.
template <typename Dst, typename Src>
AICORE void move_transposing(const Dst& dst, const Src& src, int64_t row0, int64_t col0) {
  using Element = typename Dst::DType;
  constexpr bool kFromRows = lies_by_rows<Src>;
  constexpr int kSide = pto::BLOCK_BYTE_SIZE / int{sizeof(Element)};
  constexpr int kSrcRun = kFromRows ? Storage<Src>::kRowRun : Storage<Src>::kColRun;
  constexpr int kDstRun = kFromRows ? Storage<Dst>::kColRun : Storage<Dst>::kRowRun;
  // Lines follow each other through a band only if boxes and bands go different ways.
  constexpr bool kWhole = kSrcRun == kSide && kDstRun == kSide && Storage<Src>::kBandsAreRows != kFromRows &&
                          Storage<Dst>::kBandsAreRows == kFromRows;
  const int64_t rows = dst.GetValidRow();
  const int64_t cols = dst.GetValidCol();
  const bool aligned = (kFromRows ? col0 : row0) % kSide == 0;
  for (int64_t row = 0; row < rows; row += kSide) {
    const int64_t rows_here = rows - row < kSide ? rows - row : kSide;
    for (int64_t col = 0; col < cols; col += kSide) {
      const int64_t cols_here = cols - col < kSide ? cols - col : kSide;
      if (kWhole && aligned && rows_here == kSide && cols_here == kSide) {
        transpose_block<kSide>(element_at(dst, row, col), kDstRun,
                               static_cast<const Element*>(element_at(src, row0 + row, col0 + col)), kSrcRun);
      } else {
        move_elements(dst, src, row0, col0, row, col, rows_here, cols_here);
      }
    }
  }
}

/// Along the lines in which both tiles lie.
template <typename Dst, typename Src>
AICORE void move_lines(const Dst& dst, const Src& src, int64_t row0, int64_t col0) {
  using Element = typename Dst::DType;
  constexpr bool kRows = lies_by_rows<Dst>;
  const int64_t lines = kRows ? dst.GetValidRow() : dst.GetValidCol();
  const int64_t count = kRows ? dst.GetValidCol() : dst.GetValidRow();
  constexpr int kRun = kRows ? Storage<Dst>::kRowRun : Storage<Dst>::kColRun;
  // Whole bands of both: the lines of a run's width follow each other.
  constexpr bool kBands = Dst::isBoxedLayout && Src::isBoxedLayout && Storage<Dst>::kBandsAreRows != kRows &&
                          Storage<Src>::kBandsAreRows != kRows &&
                          (kRows ? Storage<Src>::kRowRun : Storage<Src>::kColRun) == kRun;
  const int64_t first = kRows ? col0 : row0;
  if (kBands && first % kRun == 0) {
    for (int64_t at = 0; at < count; at += kRun) {
      move_bytes(static_cast<void*>(kRows ? element_at(dst, 0, at) : element_at(dst, at, 0)),
                 static_cast<const void*>(kRows ? element_at(src, row0, col0 + at) : element_at(src, row0 + at, col0)),
                 static_cast<size_t>(lines * kRun) * sizeof(Element));
    }
    return;
  }
  for_runs(dst, 0, 0, lines, count, [&](auto* to, int64_t line, int64_t done, int64_t here) PTO_INLINE_LAMBDA {
    const auto copy = [&](auto* from, int64_t at, int64_t n) PTO_INLINE_LAMBDA {
      move_bytes(static_cast<void*>(to + at), static_cast<const void*>(from), static_cast<size_t>(n) * sizeof(Element));
    };
    if constexpr (kRows) {
      for_runs_of_row(src, row0 + line, col0 + done, here, copy);
    } else {
      for_runs_of_col(src, row0 + done, col0 + line, here, copy);
    }
  });
}

/// dst(r, c) = src(row0 + r, col0 + c) over dst's valid region.
template <typename Dst, typename Src>
AICORE void move_region(const BatonPlace& place, Dst& dst, Src& src, int row0, int col0) {
  using Element = typename Dst::DType;
  using Stored = typename Src::DType;
  static_assert(can_move<Dst, Src>(), "TMOV, TEXTRACT: Mat to Left, Right or Bias; Acc to Mat or Vec; Vec to Vec");
  if constexpr (lies_in<Src, pto::TileType::Acc>) {
    static_assert(is_one_of<Element, float, int32_t, half, bfloat16_t>,
                  "TMOV from Acc: to float, int32, half or bfloat16");
  } else {
    static_assert(std::is_same_v<Element, Stored>, "TMOV, TEXTRACT: element types differ");
  }
  issue(place, pipe_bit(move_pipe<Src>()),
        region_of(src, BATON_READS, row0, col0, dst.GetValidRow(), dst.GetValidCol()), writes(dst));
  settle_tiles<Dst, Src>();
  if constexpr (kManyLanes) {
    if (are_apart(TileView(dst), whole_of(src))) return move_on_lanes(dst, src, row0, col0);
  }
  if constexpr (!std::is_same_v<Element, Stored>) {
    move_elements(dst, src, row0, col0, 0, 0, dst.GetValidRow(), dst.GetValidCol());
  } else if constexpr (lies_by_rows<Dst> != lies_by_rows<Src>) {
    move_transposing(dst, src, row0, col0);
  } else {
    move_lines(dst, src, row0, col0);
  }
}

}  // namespace baton::kernel

namespace baton::kernel {

template <typename Dst, typename Src>
PTO_INLINE AICORE void move_tile(Dst& dst, Src& src, Where where) {
  const BatonPlace place = place_of("TMOV", where);
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_same_valid(place, "dst", dst, "src", src);
  move_region(place, dst, src, 0, 0);
}

template <typename Dst, typename Src>
PTO_INLINE AICORE void extract_tile(Dst& dst, Src& src, int row0, int col0, Where where) {
  const BatonPlace place = place_of("TEXTRACT", where);
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  if (kChecks && (dst.GetValidRow() > Src::Rows - row0 || dst.GetValidCol() > Src::Cols - col0)) {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, dst.GetValidRow(), " x ", dst.GetValidCol(), " elements at (", row0, ", ",
         col0, ") are not within src, which is ", Src::Rows, " x ", Src::Cols);
  }
  move_region(place, dst, src, row0, col0);
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
        view_operand(dst, src, 0, 0)) {
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
    if (!view_operand(dst, src, row0, col0)) extract_where_it_lies(dst, src, row0, col0, where);
  } else {
    extract_tile(dst, src, row0, col0, where);
  }
  return {};
}
PTO_WITH_EVENTS(TEXTRACT)

}  // namespace pto
