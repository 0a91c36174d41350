// TCONCAT: two tiles side by side. TCI: a row of consecutive numbers.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/elementwise.hpp>
#include <pto/instructions/scratch.hpp>

namespace baton::kernel {

/// dst(r, .) = a(r, .), then b(r, .).
PTO_ONCE PTO_SHARED AICORE void concatenate(const BatonPlace& place, const TileView& dst, const TileView& a,
                                            const TileView& b) {
  check_tile(place, "a", a);
  check_tile(place, "b", b);
  const int rows = a.valid_rows;
  const int cols = a.valid_cols + b.valid_cols;
  check_equal(place, "the valid rows of b", b.valid_rows, "those of a", rows);
  check_equal(place, "the valid rows of dst", dst.valid_rows, "those of a", rows);
  check_region(place, "dst", dst, rows, cols);
  const TileUse written = region_of(dst, BATON_WRITES, 0, 0, rows, cols);
  issue(place, pipe_bit(PIPE_V), reads(a), reads(b), written);
  const int64_t bytes = dst.order.element_bytes;
  const auto a_bytes = static_cast<size_t>(a.valid_cols * bytes);
  const auto b_bytes = static_cast<size_t>(b.valid_cols * bytes);
  for (int64_t row = 0; row < rows; ++row) {
    unsigned char* const to = dst.data + row * dst.order.cols * bytes;
    // b first: it moves to the right, also where dst lies on either of them.
    move_bytes(to + a_bytes, b.data + row * b.order.cols * bytes, b_bytes);
    move_bytes(to, a.data + row * a.order.cols * bytes, a_bytes);
  }
}

/// dst(0, k) = start + k, or start - k.
template <bool descending, typename Dst>
AICORE void count_up(const BatonPlace& place, Dst& dst, typename Dst::DType start) {
  using Element = typename Dst::DType;
  static_assert(is_plain_vec<Dst> && Dst::Rows == 1, "TCI takes a Vec tile of one row");
  static_assert(is_whole<Element> && (sizeof(Element) == 2 || sizeof(Element) == 4),
                "TCI takes integers of 2 or 4 bytes");
  check_tile(place, "dst", dst);
  if (dst.GetValidRow() == 0) return;
  for (int k = 0; k < dst.GetValidCol(); ++k) {
    const auto far = static_cast<Element>(k);
    dst.data()[k] = descending ? subtract_numbers(start, far) : add_numbers(start, far);
  }
}

}  // namespace baton::kernel

namespace pto {

/// dst(r, ·) = a(r, ·), then b(r, ·).
template <typename Dst, typename First, typename Second>
AICORE RecordEvent TCONCAT(Dst& dst, First& a, Second& b,
                           baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  using Element = typename Dst::DType;
  static_assert(is_plain_vec<Dst> && is_plain_vec<First> && is_plain_vec<Second>, "TCONCAT takes row-major Vec tiles");
  static_assert(std::is_same_v<Element, typename First::DType> && std::is_same_v<Element, typename Second::DType>,
                "TCONCAT: element types differ");
  concatenate(place_of("TCONCAT", where), dst, a, b);
  return {};
}
PTO_WITH_EVENTS(TCONCAT)

/// dst(0, k) = start + k; start - k if `descending` is not 0. Work of the scalar pipe.
template <typename Dst, typename Element, int descending>
AICORE RecordEvent TCI(Dst& dst, Element start, baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(std::is_same_v<Element, typename Dst::DType>, "TCI: start has dst's element type");
  const BatonPlace place = baton::kernel::place_of("TCI", where);
  baton::kernel::issue(place, baton::kernel::pipe_bit(PIPE_S), baton::kernel::writes(dst));
  baton::kernel::count_up<descending != 0>(place, dst, start);
  return {};
}

/// The same by the vector unit.
template <typename Dst, typename Tmp, typename Element, int descending>
AICORE RecordEvent TCI(Dst& dst, Element start, Tmp& tmp,
                       baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(std::is_same_v<Element, typename Dst::DType>, "TCI: start has dst's element type");
  const BatonPlace place = place_of("TCI", where);
  check_tile(place, "dst", dst);
  check_scratch(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "dst", writes(dst));
  issue(place, pipe_bit(PIPE_V), writes(dst), scratch_range(tmp));
  clobber(tmp);
  count_up<descending != 0>(place, dst, start);
  return {};
}

}  // namespace pto
