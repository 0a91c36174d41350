// TTRANS: rows to columns.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/scratch.hpp>
#include <pto/target/transpose.hpp>

namespace baton::kernel {

/// The scratch that a transposition needs: columns of whole blocks of 16, of single bytes 32, rows.
template <typename Src>
AICORE int64_t transposition_scratch(const Src& src) {
  constexpr int64_t kRows = sizeof(typename Src::DType) == 1 ? 32 : 16;
  return src.GetValidCol() * ((src.GetValidRow() + kRows - 1) / kRows * kRows);
}

template <typename Dst, typename Src>
AICORE void transpose_tile(const Dst& dst, const Src& src) {
  using Element = typename Dst::DType;
  constexpr int kSide = 8;
  for (int row = 0; row < src.GetValidRow(); row += kSide) {
    for (int col = 0; col < src.GetValidCol(); col += kSide) {
      const int rows = src.GetValidRow() - row < kSide ? src.GetValidRow() - row : kSide;
      const int cols = src.GetValidCol() - col < kSide ? src.GetValidCol() - col : kSide;
      Element* to = element_at(dst, col, row);
      const Element* from = element_at(src, row, col);
      if (rows == kSide && cols == kSide) {
        transpose_block<kSide>(to, Dst::Cols, from, Src::Cols);
        continue;
      }
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) to[c * Dst::Cols + r] = from[r * Src::Cols + c];
      }
    }
  }
}

}  // namespace baton::kernel

namespace pto {

/// dst(c, r) = src(r, c) over src's valid region, whatever dst's is.
template <typename Dst, typename Src, typename Tmp>
AICORE RecordEvent TTRANS(Dst& dst, Src& src, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(is_plain_vec<Dst> && is_plain_vec<Src>, "TTRANS takes row-major Vec tiles");
  static_assert(std::is_same_v<typename Dst::DType, typename Src::DType>, "TTRANS: element types differ");
  const BatonPlace place = place_of("TTRANS", where);
  check_tile(place, "src", src);
  check_region(place, "dst", dst, src.GetValidCol(), src.GetValidRow());
  check_scratch(place, tmp, transposition_scratch(src));
  const TileUse written = region_of(dst, BATON_WRITES, 0, 0, src.GetValidCol(), src.GetValidRow());
  check_apart(place, "dst", written, "src", reads(src));
  check_apart(place, "tmp", scratch_range(tmp), "dst", written);
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  issue(place, pipe_bit(PIPE_V), reads(src), written, scratch_range(tmp));
  clobber(tmp);
  transpose_tile(dst, src);
  return {};
}
PTO_WITH_EVENTS(TTRANS)

}  // namespace pto
