// Rows and columns of a tile as runs of memory, whatever its boxes.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/operands.hpp>

namespace baton::kernel {

/// Calls body(address, done, count) for each run of neighbours among `count` elements of a row, or column, from (row,
/// col) on; `done` of them came before. Most runs of boxed tiles have a length that the compiler knows.
template <bool along_row, typename TileData, typename Body>
PTO_INLINE AICORE void for_runs_of(const TileData& tile, int64_t row, int64_t col, int64_t count, Body body) {
  using Order = Storage<TileData>;
  constexpr int64_t kRun = along_row ? Order::kRowRun : Order::kColRun;
  const int64_t first = along_row ? col : row;
  int64_t done = 0;
  if constexpr (TileData::isBoxedLayout && kRun > 1) {
    if (first % kRun == 0) {
      auto* at = element_at(tile, row, col);
      for (; done + kRun <= count; done += kRun, at += Order::kNextRun) body(at, done, kRun);
    }
  }
  while (done < count) {
    const int64_t whole = kRun - (first + done) % kRun;
    const int64_t here = count - done < whole ? count - done : whole;
    body(along_row ? element_at(tile, row, col + done) : element_at(tile, row + done, col), done, here);
    done += here;
  }
}

template <typename TileData, typename Body>
PTO_INLINE AICORE void for_runs_of_row(const TileData& tile, int64_t row, int64_t col, int64_t count, Body body) {
  for_runs_of<true>(tile, row, col, count, body);
}

template <typename TileData, typename Body>
PTO_INLINE AICORE void for_runs_of_col(const TileData& tile, int64_t row, int64_t col, int64_t count, Body body) {
  for_runs_of<false>(tile, row, col, count, body);
}

/// Rows if its elements are neighbours along rows, else columns.
constexpr PTO_INLINE AICORE bool lies_in_rows(const TileOrder& order) {
  return order.row_run() > 1 || order.col_run() == 1;
}
template <typename TileData>
inline constexpr bool lies_by_rows = lies_in_rows(order_of<TileData>());

/// Calls body(address, line, done, bytes) for the runs of memory of `lines` rows, or columns, of `count` elements from
/// (row, col) on; `done` elements of the line came before.
template <typename Body>
PTO_INLINE AICORE void for_byte_runs(const TileView& tile, int64_t row, int64_t col, int64_t lines, int64_t count,
                                     Body body) {
  const bool along_row = lies_in_rows(tile.order);
  const int64_t run = along_row ? tile.order.row_run() : tile.order.col_run();
  const int64_t first = along_row ? col : row;
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t done = 0; done < count;) {
      const int64_t whole = run - (first + done) % run;
      const int64_t here = count - done < whole ? count - done : whole;
      body(along_row ? tile.at(row + line, col + done) : tile.at(row + done, col + line), line, done,
           here * tile.order.element_bytes);
      done += here;
    }
  }
}

/// Calls body(address, line, done, count) for the runs of `lines` rows, or columns, of `count` elements from (row, col)
/// on.
template <typename TileData, typename Body>
PTO_INLINE AICORE void for_runs(const TileData& tile, int64_t row, int64_t col, int64_t lines, int64_t count,
                                Body body) {
  for (int64_t line = 0; line < lines; ++line) {
    const auto visit = [&](auto* at, int64_t done, int64_t here) PTO_INLINE_LAMBDA { body(at, line, done, here); };
    if constexpr (lies_by_rows<TileData>) {
      for_runs_of_row(tile, row + line, col, count, visit);
    } else {
      for_runs_of_col(tile, row, col + line, count, visit);
    }
  }
}

}  // namespace baton::kernel
