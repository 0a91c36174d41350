// Reductions of a tile to its first column (TROW...) or its first row (TCOL...).
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/elementwise.hpp>
#include <pto/instructions/scratch.hpp>

namespace baton::kernel {

/// A tile of one column: row-major, of which the first column counts, or column-major with one column.
template <typename TileData>
inline constexpr bool is_column =
    lies_in<TileData, pto::TileType::Vec> && !TileData::isBoxedLayout && (TileData::isRowMajor || TileData::Cols == 1);

/// Lanes side by side first, then across: sums of floats associate freely.
template <typename Operation, typename Element>
AICORE Element reduce_run(Operation operation, const Element* run, int count) {
  using Number = Computed<Element>;
  constexpr int kLanes = 16;
  if (count < 2 * kLanes) {
    Number result = widened(run[0]);
    for (int i = 1; i < count; ++i) result = operation(result, widened(run[i]));
    return static_cast<Element>(result);
  }
  Number lanes[kLanes];
  for (int k = 0; k < kLanes; ++k) lanes[k] = widened(run[k]);
  int i = kLanes;
  for (; i + kLanes <= count; i += kLanes) {
    PTO_VECTOR_LOOP
    for (int k = 0; k < kLanes; ++k) lanes[k] = operation(lanes[k], widened(run[i + k]));
  }
  for (; i < count; ++i) lanes[0] = operation(lanes[0], widened(run[i]));
  Number result = lanes[0];
  for (int k = 1; k < kLanes; ++k) result = operation(result, lanes[k]);
  return static_cast<Element>(result);
}

template <typename Operation, typename Dst, typename Src, typename Tmp>
AICORE void reduce_rows(const BatonPlace& place, Dst& dst, Src& src, Tmp& tmp) {
  using Element = typename Src::DType;
  static_assert(is_plain_vec<Src>, "row reductions take a row-major Vec tile");
  static_assert(is_column<Dst>, "row reductions write to a row-major Vec tile, or a column-major one of one column");
  static_assert(std::is_same_v<typename Dst::DType, Element>, "dst and src have different element types");
  static_assert(is_vector_number<Element>, "row reductions take half, float, int16, int32");
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_equal(place, "the valid rows of dst", dst.GetValidRow(), "those of src", src.GetValidRow());
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst), scratch_range(tmp));
  check_and_clobber(place, tmp, dst, src);
  if (is_empty(src)) return;
  for (int row = 0; row < src.GetValidRow(); ++row) {
    *element_at(dst, row, 0) = reduce_run(Operation{}, element_at(src, row, 0), src.GetValidCol());
  }
}

template <typename Operation, typename Dst, typename Src>
AICORE void reduce_cols(const BatonPlace& place, Dst& dst, Src& src) {
  using Element = typename Src::DType;
  static_assert(is_plain_vec<Src> && is_plain_vec<Dst>, "column reductions take row-major Vec tiles");
  static_assert(std::is_same_v<typename Dst::DType, Element>, "dst and src have different element types");
  static_assert(is_vector_number<Element>, "column reductions take half, float, int16, int32");
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_equal(place, "the valid columns of dst", dst.GetValidCol(), "those of src", src.GetValidCol());
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  if (is_empty(src)) return;
  constexpr int kPiece = 16;
  const int cols = src.GetValidCol();
  for (int first = 0; first < cols; first += kPiece) {
    const int here = cols - first < kPiece ? cols - first : kPiece;
    Computed<Element> sums[kPiece];
    for (int k = 0; k < here; ++k) sums[k] = widened(src.data()[first + k]);
    for (int row = 1; row < src.GetValidRow(); ++row) {
      const Element* run = src.data() + row * Src::Cols + first;
      for (int k = 0; k < here; ++k) sums[k] = Operation{}(sums[k], widened(run[k]));
    }
    for (int k = 0; k < here; ++k) dst.data()[first + k] = static_cast<Element>(sums[k]);
  }
}

}  // namespace baton::kernel

namespace pto {

#define PTO_ROW_REDUCTION(NAME, OPERATION)                                                                      \
  template <typename Dst, typename Src, typename Tmp>                                                           \
  requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent NAME(                                                \
      Dst& dst, Src& src, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) {             \
    baton::kernel::reduce_rows<baton::kernel::OPERATION>(baton::kernel::place_of(#NAME, where), dst, src, tmp); \
    return {};                                                                                                  \
  }                                                                                                             \
  PTO_WITH_EVENTS(NAME)

PTO_ROW_REDUCTION(TROWSUM, AddNumbers)
PTO_ROW_REDUCTION(TROWMAX, LargerNumber)
PTO_ROW_REDUCTION(TROWMIN, SmallerNumber)
PTO_ROW_REDUCTION(TROWPROD, MultiplyNumbers)

#undef PTO_ROW_REDUCTION

#define PTO_COL_REDUCTION(NAME, OPERATION)                                                                    \
  template <typename Dst, typename Src>                                                                       \
  AICORE RecordEvent NAME(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) { \
    baton::kernel::reduce_cols<baton::kernel::OPERATION>(baton::kernel::place_of(#NAME, where), dst, src);    \
    return {};                                                                                                \
  }                                                                                                           \
  PTO_WITH_EVENTS(NAME)

PTO_COL_REDUCTION(TCOLSUM, AddNumbers)
PTO_COL_REDUCTION(TCOLMAX, LargerNumber)
PTO_COL_REDUCTION(TCOLMIN, SmallerNumber)
PTO_COL_REDUCTION(TCOLPROD, MultiplyNumbers)

#undef PTO_COL_REDUCTION

/// `binary` chooses between two orders of summation, both of which are free.
template <typename Dst, typename Src, typename Tmp>
AICORE RecordEvent TCOLSUM(Dst& dst, Src& src, Tmp& tmp, bool /*binary*/,
                           baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TCOLSUM", where);
  baton::kernel::check_tile(place, "dst", dst);
  baton::kernel::check_tile(place, "src", src);
  baton::kernel::issue(place, baton::kernel::pipe_bit(PIPE_V), baton::kernel::scratch_range(tmp));
  baton::kernel::check_and_clobber(place, tmp, dst, src);
  return TCOLSUM(dst, src, where);
}

}  // namespace pto
