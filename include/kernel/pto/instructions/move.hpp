// TMOV, TEXTRACT: between on-chip buffers. TTRANS: rows to columns.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/reduce.hpp>
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
  issue(place, pipe_bit(move_pipe<Src>()), reads(src), writes(dst));
  constexpr bool kSameRuns = std::is_same_v<Element, Stored> && Dst::ColStride == 1 && Src::ColStride == 1;
  for (int row = 0; row < dst.GetValidRow(); ++row) {
    if constexpr (kSameRuns) {
      move_bytes(static_cast<void*>(element_at(dst, row, 0)),
                 static_cast<const void*>(element_at(src, row0 + row, col0)),
                 static_cast<size_t>(dst.GetValidCol()) * sizeof(Element));
    } else {
      for (int col = 0; col < dst.GetValidCol(); ++col) {
        *element_at(dst, row, col) = stored_as<Element>(*element_at(src, row0 + row, col0 + col));
      }
    }
  }
}

}  // namespace baton::kernel

namespace pto {

template <typename Dst, typename Src>
AICORE RecordEvent TMOV(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TMOV", where);
  baton::kernel::check_tile(place, "dst", dst);
  baton::kernel::check_tile(place, "src", src);
  baton::kernel::check_same_valid(place, "dst", dst, "src", src);
  baton::kernel::move_region(place, dst, src, 0, 0);
  return {};
}
PTO_WITH_EVENTS(TMOV)

/// The part of `src` that begins at (row0, col0) and has the valid size of `dst`.
template <typename Dst, typename Src>
AICORE RecordEvent TEXTRACT(Dst& dst, Src& src, int row0 = 0, int col0 = 0,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TEXTRACT", where);
  baton::kernel::check_tile(place, "dst", dst);
  baton::kernel::check_tile(place, "src", src);
  if (baton::kernel::kChecks && (row0 < 0 || col0 < 0 || dst.GetValidRow() > src.GetValidRow() - row0 ||
                                 dst.GetValidCol() > src.GetValidCol() - col0)) {
    baton::kernel::fail(place, BATON_KERNEL_OUT_OF_RANGE, dst.GetValidRow(), " x ", dst.GetValidCol(), " elements at (",
                        row0, ", ", col0, ") are not within src, whose valid size is ", src.GetValidRow(), " x ",
                        src.GetValidCol());
  }
  baton::kernel::move_region(place, dst, src, row0, col0);
  return {};
}
PTO_WITH_EVENTS(TEXTRACT)

/// dst(c, r) = src(r, c).
template <typename Dst, typename Src, typename Tmp>
AICORE RecordEvent TTRANS(Dst& dst, Src& src, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(baton::kernel::is_plain_vec<Dst> && baton::kernel::is_plain_vec<Src>,
                "TTRANS takes row-major Vec tiles");
  static_assert(std::is_same_v<typename Dst::DType, typename Src::DType>, "TTRANS: element types differ");
  const BatonPlace place = baton::kernel::place_of("TTRANS", where);
  baton::kernel::check_tile(place, "dst", dst);
  baton::kernel::check_tile(place, "src", src);
  baton::kernel::check_equal(place, "the valid rows of dst", dst.GetValidRow(), "the valid columns of src",
                             src.GetValidCol());
  baton::kernel::check_equal(place, "the valid columns of dst", dst.GetValidCol(), "the valid rows of src",
                             src.GetValidRow());
  baton::kernel::check_disjoint(place, "dst", dst, "src", src);
  baton::kernel::issue(place, baton::kernel::pipe_bit(PIPE_V), baton::kernel::reads(src), baton::kernel::writes(dst),
                       baton::kernel::scratch_range(tmp));
  baton::kernel::check_and_clobber(place, tmp, dst, src);
  for (int row = 0; row < src.GetValidRow(); ++row) {
    for (int col = 0; col < src.GetValidCol(); ++col) {
      *baton::kernel::element_at(dst, col, row) = *baton::kernel::element_at(src, row, col);
    }
  }
  return {};
}
PTO_WITH_EVENTS(TTRANS)

}  // namespace pto
