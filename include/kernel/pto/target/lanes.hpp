// The lanes of a core: what works on the elements of an instruction.
//
// A kernel is read once, by one thread. An instruction that is worth it hands its elements to all lanes and goes on
// when they are done, so nothing of one instruction is ever seen half done by the next. On a host there is one lane;
// with PTO_LANES there are that many, as threads, so that tests see what lanes do to each other.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/compiler.hpp>
#include <pto/target/lane.hpp>

#if defined(__CUDACC__)
#include <pto/target/cuda/lanes.hpp>
#elif defined(PTO_LANES)
#include <pto/target/thread_lanes.hpp>
#else
namespace baton::kernel {

/// Calls body(Lanes) on every lane of the core and returns when all have. `body` holds values and pointers to memory of
/// the chip: what refers to variables of the caller is not there on other lanes. No two lanes write the same byte, and
/// none reads what another one writes.
template <LanesWrite = LanesWrite::tiles, typename Body>
PTO_INLINE AICORE void on_lanes(Body body) {
  body(Lanes{0, 1});
}

}  // namespace baton::kernel
#endif

namespace baton::kernel {

#if !defined(__CUDACC__)
/// The same for what only writes to tiles: on a GPU without waiting for it.
template <typename Body>
PTO_INLINE void post_to_lanes(const Body& body) {
  on_lanes(body);
}
#endif

/// Whether an instruction is divided among lanes. One lane steps through vectors instead, in loops of its own.
#if defined(__CUDACC__) || defined(PTO_LANES)
inline constexpr bool kManyLanes = true;
#else
inline constexpr bool kManyLanes = false;
#endif

/// The cells of a grid that are a lane's, one after the other: neighbours in a row are those of neighbouring lanes.
struct LaneCells {
  uint32_t cols;
  uint32_t row;
  uint32_t col;
  uint32_t row_step;
  uint32_t col_step;

  /// Divisions take longer than most of what lanes do.
  PTO_INLINE AICORE LaneCells(Lanes lanes, uint32_t cols_of_grid)
      : cols(cols_of_grid), row(0), col(lanes.lane), row_step(0), col_step(lanes.count) {
    if (lanes.lane >= cols) {
      row = lanes.lane / cols;
      col = lanes.lane % cols;
    }
    if (lanes.count >= cols) {
      row_step = lanes.count == cols ? 1 : lanes.count / cols;
      col_step = lanes.count - row_step * cols;
    }
  }

  PTO_INLINE AICORE void advance() {
    row += row_step;
    col += col_step;
    if (col >= cols) {
      col -= cols;
      ++row;
    }
  }
};

/// Calls body(row, col) for each cell of a grid that is this lane's.
template <typename Body>
PTO_INLINE AICORE void for_cells(Lanes lanes, uint32_t rows, uint32_t cols, Body body) {
  if (cols == 0) return;
  for (LaneCells cell(lanes, cols); cell.row < rows; cell.advance()) body(cell.row, cell.col);
}

}  // namespace baton::kernel
