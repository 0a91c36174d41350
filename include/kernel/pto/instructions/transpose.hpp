// TTRANS: rows to columns.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/scratch.hpp>
#include <pto/target/transpose.hpp>

namespace baton::kernel {

/// The scratch that a transposition needs: columns of whole blocks of 16, of single bytes 32, rows.
PTO_INLINE AICORE int64_t transposition_scratch(const TileView& src) {
  const int64_t block = src.order.element_bytes == 1 ? 32 : 16;
  return src.valid_cols * ((src.valid_rows + block - 1) / block * block);
}

/// Checks the tiles and tells the core.
PTO_ONCE PTO_SHARED AICORE void begin_transposition(const BatonPlace& place, const TileView& dst, const TileView& src,
                                                    const TileView& tmp) {
  check_tile(place, "src", src);
  check_region(place, "dst", dst, src.valid_cols, src.valid_rows);
  check_scratch_view(place, tmp, transposition_scratch(src));
  const TileUse written = region_of(dst, BATON_WRITES, 0, 0, src.valid_cols, src.valid_rows);
  check_apart(place, "dst", written, "src", reads(src));
  check_apart(place, "tmp", scratch_range(tmp), "dst", written);
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  issue(place, pipe_bit(PIPE_V), reads(src), written, scratch_range(tmp));
  clobber(tmp);
}

/// Elements are as large as a Word.
template <typename Word>
PTO_SHARED AICORE void transpose_tile(const TileView& dst, const TileView& src) {
  constexpr int kSide = 8;
  const int64_t to_pitch = dst.order.cols;
  const int64_t from_pitch = src.order.cols;
  for (int row = 0; row < src.valid_rows; row += kSide) {
    for (int col = 0; col < src.valid_cols; col += kSide) {
      const int rows = src.valid_rows - row < kSide ? src.valid_rows - row : kSide;
      const int cols = src.valid_cols - col < kSide ? src.valid_cols - col : kSide;
      Word* const to = reinterpret_cast<Word*>(dst.data) + col * to_pitch + row;
      const Word* const from = reinterpret_cast<const Word*>(src.data) + row * from_pitch + col;
      if (rows == kSide && cols == kSide) {
        transpose_block<kSide>(to, to_pitch, from, from_pitch);
        continue;
      }
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) to[c * to_pitch + r] = from[r * from_pitch + c];
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
  static_assert(lies_in<Tmp, TileType::Vec>, "tmp is a Vec tile");
  const TileView to(dst);
  const TileView from(src);
  begin_transposition(place_of("TTRANS", where), to, from, tmp);
  transpose_tile<UnsignedOf<sizeof(typename Dst::DType)>>(to, from);
  return {};
}
PTO_WITH_EVENTS(TTRANS)

}  // namespace pto
