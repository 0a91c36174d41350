// What elementwise instructions do to one element: widen, calculate, store.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/elements.hpp>
#include <pto/target/math.hpp>

namespace baton::kernel {

template <typename Element>
constexpr PTO_INLINE AICORE Computed<Element> widened(Element value) {
  return static_cast<Computed<Element>>(value);
}

/// A number as an element of another type: floats to the nearest, ties to even; into integers saturating.
template <typename Element, typename Number>
constexpr PTO_INLINE AICORE Element stored_as(Number value) {
  if constexpr (is_whole<Element> && !is_whole<Number>) {
    const float rounded = to_nearest_even(static_cast<float>(value));
    constexpr float kLimit = 2147483648.0f;
    static_assert(std::is_same_v<Element, int32_t>);
    if (rounded != rounded) return 0;
    if (rounded >= kLimit) return 0x7fffffff;
    if (rounded < -kLimit) return -0x7fffffff - 1;
    return static_cast<int32_t>(rounded);
  } else {
    return static_cast<Element>(value);
  }
}

/// Lifts an operation on computed values to elements.
#define PTO_ELEMENT_OPERATION(NAME, EXPRESSION)                                 \
  struct NAME {                                                                 \
    template <typename Element>                                                 \
    PTO_INLINE AICORE Element operator()(Element first, Element second) const { \
      [[maybe_unused]] const auto a = widened(first);                           \
      [[maybe_unused]] const auto b = widened(second);                          \
      return static_cast<Element>(EXPRESSION);                                  \
    }                                                                           \
  };

template <typename Number>
constexpr PTO_INLINE AICORE Number add_numbers(Number a, Number b) {
  if constexpr (is_whole<Number>) {
    return static_cast<Number>(static_cast<Wrapping<Number>>(a) + static_cast<Wrapping<Number>>(b));
  } else {
    return a + b;
  }
}

template <typename Number>
constexpr PTO_INLINE AICORE Number subtract_numbers(Number a, Number b) {
  if constexpr (is_whole<Number>) {
    return static_cast<Number>(static_cast<Wrapping<Number>>(a) - static_cast<Wrapping<Number>>(b));
  } else {
    return a - b;
  }
}

template <typename Number>
constexpr PTO_INLINE AICORE Number multiply_numbers(Number a, Number b) {
  if constexpr (is_whole<Number>) {
    return static_cast<Number>(static_cast<Wrapping<Number>>(a) * static_cast<Wrapping<Number>>(b));
  } else {
    return a * b;
  }
}

/// NaN if either is: what was poisoned stays visible.
template <typename Number>
constexpr PTO_INLINE AICORE Number larger_of(Number a, Number b) {
  const Number larger = a > b ? a : b;
  if constexpr (is_whole<Number>) {
    return larger;
  } else {
    return a != a ? a : larger;
  }
}

template <typename Number>
constexpr PTO_INLINE AICORE Number smaller_of(Number a, Number b) {
  const Number smaller = a < b ? a : b;
  if constexpr (is_whole<Number>) {
    return smaller;
  } else {
    return a != a ? a : smaller;
  }
}

/// Bits that are shifted out are lost; an amount of the element's width or more, or below zero, shifts out all of them.
template <typename Number>
constexpr PTO_INLINE AICORE Number shift_left(Number a, Number amount) {
  using Bits = std::make_unsigned_t<Number>;
  const bool all = amount < 0 || amount >= static_cast<Number>(sizeof(Number) * 8);
  return all ? Number{0}
             : static_cast<Number>(static_cast<Wrapping<Number>>(static_cast<Bits>(a)) << (all ? 0 : amount));
}

/// Signed numbers keep their sign.
template <typename Number>
constexpr PTO_INLINE AICORE Number shift_right(Number a, Number amount) {
  const bool all = amount < 0 || amount >= static_cast<Number>(sizeof(Number) * 8);
  return all ? static_cast<Number>(a < 0 ? -1 : 0) : static_cast<Number>(a >> (all ? 0 : amount));
}

PTO_ELEMENT_OPERATION(AddNumbers, add_numbers(a, b))
PTO_ELEMENT_OPERATION(SubtractNumbers, subtract_numbers(a, b))
PTO_ELEMENT_OPERATION(MultiplyNumbers, multiply_numbers(a, b))
PTO_ELEMENT_OPERATION(DivideNumbers, a / b)
PTO_ELEMENT_OPERATION(LargerNumber, larger_of(a, b))
PTO_ELEMENT_OPERATION(SmallerNumber, smaller_of(a, b))
PTO_ELEMENT_OPERATION(AndBits, a& b)
PTO_ELEMENT_OPERATION(OrBits, a | b)
PTO_ELEMENT_OPERATION(ShiftLeft, shift_left(a, b))
PTO_ELEMENT_OPERATION(ShiftRight, shift_right(a, b))

#undef PTO_ELEMENT_OPERATION

}  // namespace baton::kernel
