// Elementwise instructions on a tile and a number: (dst, src, scalar).
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/elementwise.hpp>
#include <pto/target/math.hpp>

namespace baton::kernel {

/// value if positive, else scalar * value.
struct LeakySlope {
  template <typename Element>
  PTO_INLINE AICORE Element operator()(Element value, Element scalar) const {
    const float wide = widened(value);
    return static_cast<Element>(wide > 0 ? wide : wide * widened(scalar));
  }
};

/// dst + scalar * src: float rounds twice, as TMULS and TADD do; half, calculated in float, once more.
template <typename Element>
struct AddScaled {
  Element scalar;
  PTO_INLINE AICORE Element operator()(Element sum, Element value) const {
    return static_cast<Element>(add_product(widened(sum), widened(scalar), widened(value)));
  }
};

}  // namespace baton::kernel

namespace pto {

#define PTO_SCALAR(NAME, OPERATION, ACCEPTS, TYPES)                                                             \
  template <typename Dst, typename Src, typename Scalar>                                                        \
  requires std::is_convertible_v<Scalar, typename Src::DType> AICORE RecordEvent NAME(                          \
      Dst& dst, Src& src, Scalar scalar, baton::kernel::Where where = baton::kernel::Where::current()) {        \
    using Element = typename Src::DType;                                                                        \
    static_assert(baton::kernel::ACCEPTS<Element>, #NAME " takes " TYPES);                                      \
    const baton::kernel::WithScalar<baton::kernel::OPERATION, Element> operation{static_cast<Element>(scalar)}; \
    baton::kernel::elementwise(baton::kernel::place_of(#NAME, where), operation, dst, src);                     \
    return {};                                                                                                  \
  }                                                                                                             \
  PTO_WITH_EVENTS(NAME)

PTO_SCALAR(TADDS, AddNumbers, is_vector_number, "half, float, int16, int32")
PTO_SCALAR(TSUBS, SubtractNumbers, is_vector_number, "half, float, int16, int32")
PTO_SCALAR(TMULS, MultiplyNumbers, is_vector_number, "half, float, int16, int32")
PTO_SCALAR(TMAXS, LargerNumber, is_vector_number, "half, float, int16, int32")
PTO_SCALAR(TMINS, SmallerNumber, is_vector_number, "half, float, int16, int32")
PTO_SCALAR(TDIVS, DivideNumbers, is_vector_real, "half, float")
PTO_SCALAR(TLRELU, LeakySlope, is_vector_real, "half, float")

#undef PTO_SCALAR

/// dst += scalar * src.
template <typename Dst, typename Src, typename Scalar>
requires std::is_convertible_v<Scalar, typename Src::DType> AICORE RecordEvent
TAXPY(Dst& dst, Src& src, Scalar scalar, baton::kernel::Where where = baton::kernel::Where::current()) {
  using Element = typename Src::DType;
  static_assert(baton::kernel::is_vector_real<Element>, "TAXPY takes half, float");
  const baton::kernel::AddScaled<Element> operation{static_cast<Element>(scalar)};
  baton::kernel::elementwise(baton::kernel::place_of("TAXPY", where), operation, dst, dst, src);
  return {};
}
PTO_WITH_EVENTS(TAXPY)

}  // namespace pto
