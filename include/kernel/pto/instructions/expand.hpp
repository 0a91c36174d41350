// One column or one row repeated over a tile, alone or combined with another tile.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <string.h>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/reduce.hpp>

namespace baton::kernel {

/// The exponential of a difference.
struct ExponentialOfDifference {
  template <typename Element>
  PTO_INLINE AICORE Element operator()(Element first, Element second) const {
    return static_cast<Element>(exponential(widened(first) - widened(second)));
  }
};

/// A column by itself: N x 1, column-major.
PTO_INLINE AICORE bool is_single_column(const TileOrder& order) {
  return !order.boxed && !order.bands_are_rows && order.cols == 1;
}

/// vector(r, 0) for each row, or as many elements as 32 bytes hold, again and again.
PTO_INLINE AICORE Source column_of(const TileView& vector) {
  const int32_t block = pto::BLOCK_BYTE_SIZE / vector.order.element_bytes;
  if (is_single_column(vector.order)) return {vector.data, 1, 1};
  return {vector.data, vector.order.cols, vector.valid_cols == block ? block : 1};
}

PTO_ONCE PTO_SHARED AICORE void check_expansion(const BatonPlace& place, const TileView& dst, const TileView& src,
                                                const TileView& vector) {
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_tile(place, "the vector", vector);
  check_same_valid(place, "dst", dst, "src", src);
}

PTO_ONCE PTO_COLD AICORE void refuse_expansion(BatonPlace place, TileView dst, TileView src, TileView vector) {
  check_expansion(place, dst, src, vector);
}

PTO_ONCE PTO_SHARED AICORE void check_column(const BatonPlace& place, const TileView& dst, const TileView& vector) {
  const int32_t block = pto::BLOCK_BYTE_SIZE / vector.order.element_bytes;
  if (kChecks && !is_single_column(vector.order) && vector.valid_cols != 1 && vector.valid_cols != block &&
      !dst.is_empty()) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "a row-major vector has 1 or ", block, " valid columns, got ",
         vector.valid_cols);
  }
  check_equal(place, "the valid rows of dst", dst.valid_rows, "those of the vector", vector.valid_rows);
}

/// dst(r, c) from src(r, c) and vector(r, 0). Either operand may be the vector: the column, or the one that is narrower
/// than dst.
PTO_ONCE PTO_SHARED AICORE Work begin_row_expansion(const char* name, Where where, const TileView& dst,
                                                    const TileView& first, const TileView& second) {
  const BatonPlace place = place_of(name, where);
  const bool swapped =
      !is_single_column(second.order) &&
      (is_single_column(first.order) || (second.valid_cols == dst.valid_cols && first.valid_cols != dst.valid_cols));
  const TileView& src = swapped ? second : first;
  const TileView& vector = swapped ? first : second;
  if (kChecks && !(is_usable(dst) && is_usable(src) && is_usable(vector) && have_same_valid(dst, src))) {
    refuse_expansion(place, dst, src, vector);
  }
  check_column(place, dst, vector);
  issue(place, pipe_bit(PIPE_V), reads(src), reads(vector), writes(dst));
  return swapped ? work_on(dst, column_of(vector), lines_of(src)) : work_on(dst, lines_of(src), column_of(vector));
}

/// dst(r, c) from src(r, c) and vector(0, c).
PTO_ONCE PTO_SHARED AICORE Work begin_col_expansion(const char* name, Where where, const TileView& dst,
                                                    const TileView& src, const TileView& vector) {
  const BatonPlace place = place_of(name, where);
  check_expansion(place, dst, src, vector);
  check_equal(place, "the valid columns of dst", dst.valid_cols, "those of the vector", vector.valid_cols);
  issue(place, pipe_bit(PIPE_V), reads(src), reads(vector), writes(dst));
  return work_on(dst, lines_of(src), {vector.data, 0, 0});
}

template <size_t bytes>
PTO_INLINE AICORE void fill_rows(const TileView& dst, const TileView& vector) {
  unsigned char* to = dst.data;
  const unsigned char* from = vector.data;
  const int64_t step = is_single_column(vector.order) ? 1 : vector.order.cols;
  for (int row = 0; row < dst.valid_rows; ++row) {
    Pattern pattern;
    repeat_bytes<bytes>(pattern, from);
    fill_bytes(to, static_cast<size_t>(dst.valid_cols) * bytes, pattern);
    to += dst.order.cols * int64_t{bytes};
    from += step * int64_t{bytes};
  }
}

/// dst(r, c) = vector(r, 0), whatever else the vector has.
PTO_ONCE PTO_SHARED AICORE void expand_column(const char* name, Where where, const TileView& dst,
                                              const TileView& vector) {
  const BatonPlace place = place_of(name, where);
  check_expansion(place, dst, dst, vector);
  check_equal(place, "the valid rows of dst", dst.valid_rows, "those of the vector", vector.valid_rows);
  issue(place, pipe_bit(PIPE_V), reads(vector), writes(dst));
  if (kManyLanes && are_apart(dst, vector)) return expand_on_lanes(dst, vector, Repeats::column);
  switch (dst.order.element_bytes) {
    case 1: return fill_rows<1>(dst, vector);
    case 2: return fill_rows<2>(dst, vector);
    case 4: return fill_rows<4>(dst, vector);
    default: return fill_rows<8>(dst, vector);
  }
}

/// dst(r, c) = vector(0, c).
PTO_ONCE PTO_SHARED AICORE void expand_row(const char* name, Where where, const TileView& dst, const TileView& vector) {
  const BatonPlace place = place_of(name, where);
  check_expansion(place, dst, dst, vector);
  check_equal(place, "the valid columns of dst", dst.valid_cols, "those of the vector", vector.valid_cols);
  issue(place, pipe_bit(PIPE_V), reads(vector), writes(dst));
  if (kManyLanes && are_apart(dst, vector)) return expand_on_lanes(dst, vector, Repeats::row);
  const auto bytes = static_cast<size_t>(dst.valid_cols) * dst.order.element_bytes;
  const int64_t pitch = int64_t{dst.order.cols} * dst.order.element_bytes;
  for (int row = 0; row < dst.valid_rows; ++row) move_bytes(dst.data + row * pitch, vector.data, bytes);
}

template <typename Operation, typename Dst, typename First, typename Second>
PTO_OUTLINED AICORE void combine_with_column_the_long_way(const char* name, Where where, Dst dst, First first,
                                                          Second second, Operation operation) {
  combine<typename Dst::DType>(begin_row_expansion(name, where, dst, first, second), operation);
}
template <typename Operation, typename Dst, typename First, typename Second>
PTO_INLINE AICORE void combine_with_column(const char* name, Where where, Dst& dst, First& first, Second& second,
                                           Operation operation) {
  if constexpr (is_column_of<Dst, First, Second>) {
    if (!combine_whole_with_column(operation, dst, first, second)) {
      combine_with_column_the_long_way(name, where, dst, first, second, operation);
    }
  } else {
    combine<typename Dst::DType>(begin_row_expansion(name, where, dst, first, second), operation);
  }
}

template <typename Dst, typename Src, typename Vector>
constexpr AICORE void require_expansion() {
  static_assert(are_plain_vecs<Dst, Src>, "expansions take row-major Vec tiles");
  static_assert(have_one_type<Dst, Src, Vector>, "element types differ");
}

/// Either operand may be the column.
template <typename Dst, typename First, typename Second>
constexpr AICORE void require_row_expansion() {
  static_assert(is_column<First> && is_column<Second>,
                "the vector is a row-major Vec tile, or a column-major one of one column");
  static_assert(is_plain_vec<Dst> && (is_plain_vec<First> || is_plain_vec<Second>),
                "expansions take row-major Vec tiles");
  static_assert(have_one_type<Dst, First, Second>, "element types differ");
}

}  // namespace baton::kernel

namespace pto {

/// dst(r, c) = src(r, 0).
template <typename Dst, typename Src>
AICORE RecordEvent TROWEXPAND(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(is_column<Src>, "the vector is a row-major Vec tile, or a column-major one of one column");
  require_expansion<Dst, Dst, Src>();
  expand_column("TROWEXPAND", where, dst, src);
  return {};
}
PTO_WITH_EVENTS(TROWEXPAND)

/// dst(r, c) = src(0, c).
template <typename Dst, typename Src>
AICORE RecordEvent TCOLEXPAND(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(is_plain_vec<Src>, "the vector is a row-major Vec tile");
  require_expansion<Dst, Dst, Src>();
  expand_row("TCOLEXPAND", where, dst, src);
  return {};
}
PTO_WITH_EVENTS(TCOLEXPAND)

#define PTO_EXPANSION(SUFFIX, OPERATION, ACCEPTS, TYPES)                                                            \
  template <typename Dst, typename Src, typename Vector>                                                            \
  requires(baton::kernel::is_tile<Vector>) AICORE RecordEvent TROWEXPAND##SUFFIX(                                   \
      Dst& dst, Src& src, Vector& vector, baton::kernel::Where where = baton::kernel::Where::current()) {           \
    using namespace baton::kernel;                                                                                  \
    static_assert(ACCEPTS<typename Dst::DType>, "TROWEXPAND" #SUFFIX " takes " TYPES);                              \
    require_row_expansion<Dst, Src, Vector>();                                                                      \
    combine_with_column("TROWEXPAND" #SUFFIX, where, dst, src, vector, OPERATION{});                                \
    return {};                                                                                                      \
  }                                                                                                                 \
  template <typename Dst, typename Src, typename Vector, typename Tmp>                                              \
  requires(baton::kernel::is_tile<Vector> && baton::kernel::is_tile<Tmp>) AICORE RecordEvent TROWEXPAND##SUFFIX(    \
      Dst& dst, Src& src, Vector& vector, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) { \
    using namespace baton::kernel;                                                                                  \
    const BatonPlace place = place_of("TROWEXPAND" #SUFFIX, where);                                                 \
    issue(place, pipe_bit(PIPE_V), scratch_range(tmp));                                                             \
    check_apart(place, "tmp", scratch_range(tmp), "the vector", reads(vector));                                     \
    check_and_clobber(place, tmp, dst, src);                                                                        \
    return TROWEXPAND##SUFFIX(dst, src, vector, where);                                                             \
  }                                                                                                                 \
  PTO_WITH_EVENTS(TROWEXPAND##SUFFIX)                                                                               \
  template <typename Dst, typename Src, typename Vector>                                                            \
  requires(baton::kernel::is_tile<Vector>) AICORE RecordEvent TCOLEXPAND##SUFFIX(                                   \
      Dst& dst, Src& src, Vector& vector, baton::kernel::Where where = baton::kernel::Where::current()) {           \
    using namespace baton::kernel;                                                                                  \
    static_assert(ACCEPTS<typename Dst::DType>, "TCOLEXPAND" #SUFFIX " takes " TYPES);                              \
    static_assert(is_plain_vec<Vector>, "the vector is a row-major Vec tile");                                      \
    require_expansion<Dst, Src, Vector>();                                                                          \
    const Work work = begin_col_expansion("TCOLEXPAND" #SUFFIX, where, dst, src, vector);                           \
    combine<typename Dst::DType>(work, OPERATION{});                                                                \
    return {};                                                                                                      \
  }                                                                                                                 \
  PTO_WITH_EVENTS(TCOLEXPAND##SUFFIX)

PTO_EXPANSION(ADD, AddNumbers, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(SUB, SubtractNumbers, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(MUL, MultiplyNumbers, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(DIV, DivideNumbers, is_vector_real, "half, float")
PTO_EXPANSION(MAX, LargerNumber, is_vector_number, "half, float, int16, int32")
PTO_EXPANSION(MIN, SmallerNumber, is_vector_number, "half, float, int16, int32")

#undef PTO_EXPANSION

/// dst(r, c) = exp(src(r, c) - vector(0, c)).
template <typename Dst, typename Src, typename Vector>
AICORE RecordEvent TCOLEXPANDEXPDIF(Dst& dst, Src& src, Vector& vector,
                                    baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(is_vector_real<typename Dst::DType>, "TCOLEXPANDEXPDIF takes half, float");
  static_assert(is_plain_vec<Vector>, "the vector is a row-major Vec tile");
  require_expansion<Dst, Src, Vector>();
  const Work work = begin_col_expansion("TCOLEXPANDEXPDIF", where, dst, src, vector);
  combine<typename Dst::DType>(work, ExponentialOfDifference{});
  return {};
}
PTO_WITH_EVENTS(TCOLEXPANDEXPDIF)

}  // namespace pto
