// Elementwise instructions on one tile: (dst, src). TEXPANDS fills a tile with a number.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/elementwise.hpp>
#include <pto/instructions/lane_tiles.hpp>
#include <pto/instructions/scratch.hpp>
#include <pto/instructions/tile_lines.hpp>

namespace baton::kernel {

#define PTO_FUNCTION(NAME, EXPRESSION)                          \
  struct NAME {                                                 \
    template <typename Element>                                 \
    PTO_INLINE AICORE Element operator()(Element value) const { \
      const auto x = widened(value);                            \
      return static_cast<Element>(EXPRESSION);                  \
    }                                                           \
  };

template <typename Number>
PTO_INLINE AICORE Number magnitude_of(Number x) {
  if constexpr (is_whole<Number>) {
    return x < 0 ? subtract_numbers(Number{0}, x) : x;
  } else {
    return absolute(x);
  }
}

template <typename Number>
PTO_INLINE AICORE Number negative_of(Number x) {
  if constexpr (is_whole<Number>) {
    return subtract_numbers(Number{0}, x);
  } else {
    return -x;
  }
}

PTO_FUNCTION(Exponential, exponential(x))
PTO_FUNCTION(Logarithm, logarithm(x))
PTO_FUNCTION(SquareRoot, square_root(x))
PTO_FUNCTION(ReciprocalSquareRoot, 1.0f / square_root(x))
PTO_FUNCTION(Reciprocal, 1.0f / x)
PTO_FUNCTION(Magnitude, magnitude_of(x))
PTO_FUNCTION(Negative, negative_of(x))
PTO_FUNCTION(Complement, ~x)
PTO_FUNCTION(Rectified, larger_of<Computed<Element>>(x, 0))

#undef PTO_FUNCTION

/// Every element of the valid region, whatever the layout.
PTO_ONCE PTO_SHARED AICORE void fill(const TileView& dst, const void* value) {
  if (kManyLanes) return fill_on_lanes(dst, value);
  Pattern pattern;
  repeat(pattern, value, dst.order.element_bytes);
  if (!dst.order.boxed && dst.order.bands_are_rows && dst.valid_cols == dst.order.cols) {
    return fill_bytes(dst.data, static_cast<size_t>(dst.footprint().reach()), pattern);
  }
  const bool by_rows = lies_in_rows(dst.order);
  const int64_t lines = by_rows ? dst.valid_rows : dst.valid_cols;
  const int64_t count = by_rows ? dst.valid_cols : dst.valid_rows;
  for_byte_runs(dst, 0, 0, lines, count, [&](unsigned char* at, int64_t, int64_t, int64_t bytes) {
    fill_bytes(at, static_cast<size_t>(bytes), pattern);
  });
}

}  // namespace baton::kernel

namespace pto {

#define PTO_UNARY(NAME, OPERATION, ACCEPTS, TYPES)                                                            \
  template <typename Dst, typename Src>                                                                       \
  AICORE RecordEvent NAME(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) { \
    using namespace baton::kernel;                                                                            \
    static_assert(ACCEPTS<typename Dst::DType>, #NAME " takes " TYPES);                                       \
    require_elementwise<Dst, Src>();                                                                          \
    apply_to_tile(#NAME, where, dst, src, OPERATION{});                                                       \
    return {};                                                                                                \
  }                                                                                                           \
  PTO_WITH_EVENTS(NAME)

PTO_UNARY(TEXP, Exponential, is_vector_real, "half, float")
PTO_UNARY(TLOG, Logarithm, is_vector_real, "half, float")
PTO_UNARY(TSQRT, SquareRoot, is_vector_real, "half, float")
PTO_UNARY(TRSQRT, ReciprocalSquareRoot, is_vector_real, "half, float")
PTO_UNARY(TRECIP, Reciprocal, is_vector_real, "half, float")
PTO_UNARY(TABS, Magnitude, is_vector_number, "half, float, int16, int32")
PTO_UNARY(TNEG, Negative, is_vector_number, "half, float, int16, int32")
PTO_UNARY(TRELU, Rectified, is_vector_number, "half, float, int16, int32")
PTO_UNARY(TNOT, Complement, is_whole, "integers")

#undef PTO_UNARY

/// With a scratch tile, which is lost.
template <typename Dst, typename Src, typename Tmp>
requires(baton::kernel::is_tile<Tmp>) AICORE RecordEvent
    TRSQRT(Dst& dst, Src& src, Tmp& tmp, baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  static_assert(lies_in<Tmp, TileType::Vec>, "tmp is a Vec tile");
  lose_scratch(place_of("TRSQRT", where), tmp, src);
  return TRSQRT(dst, src, where);
}

template <typename Dst, typename Scalar>
requires std::is_convertible_v<Scalar, typename Dst::DType> AICORE RecordEvent
TEXPANDS(Dst& dst, Scalar scalar, baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(baton::kernel::lies_in<Dst, TileType::Vec>, "TEXPANDS takes a Vec tile");
  const BatonPlace place = baton::kernel::place_of("TEXPANDS", where);
  baton::kernel::check_tile(place, "dst", dst);
  baton::kernel::issue(place, baton::kernel::pipe_bit(PIPE_V), baton::kernel::writes(dst));
  const auto number = static_cast<typename Dst::DType>(scalar);
  baton::kernel::fill(dst, &number);
  return {};
}
PTO_WITH_EVENTS(TEXPANDS)

}  // namespace pto
