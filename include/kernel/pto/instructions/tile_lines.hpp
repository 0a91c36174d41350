// Rows and columns of a tile as runs of memory, whatever its boxes.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/operands.hpp>

namespace baton::kernel {

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

/// The element of a source from which the first one of a destination comes.
struct Corner {
  int64_t row;
  int64_t col;
};

/// Lines of two tiles that lie the same way, and runs along them that are without gaps in both.
class CommonRuns {
 public:
  PTO_INLINE AICORE CommonRuns(const TileView& dst, const TileView& src, Corner origin)
      : CommonRuns(dst, src, origin, lies_in_rows(dst.order)) {}

  /// Calls body(to, from, count, lines, to_pitch, from_pitch) for the same run of `lines` lines; pitches count bytes.
  template <typename Body>
  PTO_INLINE AICORE void for_each(Body body) const {
    const int64_t to_pitch = to_line_.pitch() * to_bytes_;
    const int64_t from_pitch = from_line_.pitch() * from_bytes_;
    const int64_t together = to_pitch != 0 && from_pitch != 0 ? lines_ : 1;
    for (int64_t line = 0; line < lines_; line += together) {
      unsigned char* const to = to_ + to_line_.offset(line) * to_bytes_;
      const unsigned char* const from = from_ + from_line_.offset(line0_ + line) * from_bytes_;
      for (int64_t done = 0; done < count_;) {
        const int64_t at = first_ + done;
        const int64_t to_left = to_length_ - (done & (to_length_ - 1));
        const int64_t from_left = from_length_ - (at & (from_length_ - 1));
        const int64_t left = to_left < from_left ? to_left : from_left;
        const int64_t here = count_ - done < left ? count_ - done : left;
        body(to + to_run_.offset(done) * to_bytes_, from + from_run_.offset(at) * from_bytes_, here, together, to_pitch,
             from_pitch);
        done += here;
      }
    }
  }

 private:
  /// Longer than any line: without boxes a line has no gaps.
  static constexpr int64_t kNoEnd = int64_t{1} << 32;

  PTO_INLINE AICORE CommonRuns(const TileView& dst, const TileView& src, Corner origin, bool by_rows)
      : to_(dst.data),
        from_(src.data),
        to_bytes_(dst.order.element_bytes),
        from_bytes_(src.order.element_bytes),
        to_line_(by_rows ? dst.order.row_axis() : dst.order.col_axis()),
        to_run_(by_rows ? dst.order.col_axis() : dst.order.row_axis()),
        from_line_(by_rows ? src.order.row_axis() : src.order.col_axis()),
        from_run_(by_rows ? src.order.col_axis() : src.order.row_axis()),
        lines_(by_rows ? dst.valid_rows : dst.valid_cols),
        count_(by_rows ? dst.valid_cols : dst.valid_rows),
        line0_(by_rows ? origin.row : origin.col),
        first_(by_rows ? origin.col : origin.row),
        to_length_(dst.order.boxed ? int64_t{1} << to_run_.bits : kNoEnd),
        from_length_(src.order.boxed ? int64_t{1} << from_run_.bits : kNoEnd) {}

  unsigned char* to_;
  const unsigned char* from_;
  int64_t to_bytes_;
  int64_t from_bytes_;
  Axis to_line_;
  Axis to_run_;
  Axis from_line_;
  Axis from_run_;
  int64_t lines_;
  int64_t count_;
  int64_t line0_;
  int64_t first_;
  int64_t to_length_;
  int64_t from_length_;
};

}  // namespace baton::kernel
