// Elementwise instructions on one tile: (dst, src). TEXPANDS fills a tile with a number.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/elementwise.hpp>
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

template <typename Dst>
AICORE void fill(const Dst& dst, typename Dst::DType value) {
  constexpr bool kByRows = lies_by_rows<Dst>;
  const int lines = kByRows ? dst.GetValidRow() : dst.GetValidCol();
  const int count = kByRows ? dst.GetValidCol() : dst.GetValidRow();
  for_runs(dst, 0, 0, lines, count, [=](auto* at, int64_t, int64_t, int64_t here) PTO_INLINE_LAMBDA {
    vector_store(at, static_cast<size_t>(here), [=](size_t) PTO_INLINE_LAMBDA { return value; });
  });
}

}  // namespace baton::kernel

namespace pto {

#define PTO_UNARY(NAME, OPERATION, ACCEPTS, TYPES)                                                            \
  template <typename Dst, typename Src>                                                                       \
  AICORE RecordEvent NAME(Dst& dst, Src& src, baton::kernel::Where where = baton::kernel::Where::current()) { \
    static_assert(baton::kernel::ACCEPTS<typename Dst::DType>, #NAME " takes " TYPES);                        \
    baton::kernel::elementwise(baton::kernel::place_of(#NAME, where), baton::kernel::OPERATION{}, dst, src);  \
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
  const BatonPlace place = place_of("TRSQRT", where);
  check_scratch(place, tmp, 0);
  check_apart(place, "tmp", scratch_range(tmp), "src", reads(src));
  issue(place, pipe_bit(PIPE_V), scratch_range(tmp));
  clobber(tmp);
  return TRSQRT(dst, src, where);
}

template <typename Dst, typename Scalar>
requires std::is_convertible_v<Scalar, typename Dst::DType> AICORE RecordEvent
TEXPANDS(Dst& dst, Scalar scalar, baton::kernel::Where where = baton::kernel::Where::current()) {
  static_assert(baton::kernel::lies_in<Dst, TileType::Vec>, "TEXPANDS takes a Vec tile");
  const BatonPlace place = baton::kernel::place_of("TEXPANDS", where);
  baton::kernel::check_tile(place, "dst", dst);
  baton::kernel::issue(place, baton::kernel::pipe_bit(PIPE_V), baton::kernel::writes(dst));
  baton::kernel::fill(dst, static_cast<typename Dst::DType>(scalar));
  return {};
}
PTO_WITH_EVENTS(TEXPANDS)

}  // namespace pto
