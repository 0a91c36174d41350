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
struct AddScaled {
  float scalar;
  PTO_INLINE AICORE float operator()(float sum, float value) const { return add_product(sum, scalar, value); }
};

}  // namespace baton::kernel

namespace pto {

#define PTO_SCALAR(NAME, OPERATION, ACCEPTS, TYPES)                                                      \
  template <typename Dst, typename Src, typename Scalar>                                                 \
  requires std::is_convertible_v<Scalar, typename Src::DType> AICORE RecordEvent NAME(                   \
      Dst& dst, Src& src, Scalar scalar, baton::kernel::Where where = baton::kernel::Where::current()) { \
    using namespace baton::kernel;                                                                       \
    using Element = typename Src::DType;                                                                 \
    static_assert(ACCEPTS<Element>, #NAME " takes " TYPES);                                              \
    require_elementwise<Dst, Src>();                                                                     \
    combine_with_number(#NAME, where, dst, src, static_cast<Element>(scalar), OPERATION{});              \
    return {};                                                                                           \
  }                                                                                                      \
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
  using namespace baton::kernel;
  using Element = typename Src::DType;
  static_assert(is_vector_real<Element>, "TAXPY takes half, float");
  require_elementwise<Dst, Src>();
  const AddScaled operation{widened(static_cast<Element>(scalar))};
  combine_tiles("TAXPY", where, dst, dst, src, operation);
  return {};
}
PTO_WITH_EVENTS(TAXPY)

}  // namespace pto
