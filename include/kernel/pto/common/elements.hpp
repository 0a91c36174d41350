// Element types: which there are, and in which type arithmetic on them happens.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>
#include <pto/common/bfloat16.hpp>
#include <pto/common/half.hpp>
#include <pto/common/mx.hpp>

namespace baton::kernel {

template <typename Element, typename... Listed>
inline constexpr bool is_one_of = (std::is_same_v<Element, Listed> || ...);

template <typename Element>
inline constexpr bool is_element = is_one_of<Element, float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t,
                                             int32_t, uint32_t, int64_t, uint64_t>;

/// What the vector unit calculates with.
template <typename Element>
inline constexpr bool is_vector_number = is_one_of<Element, half, float, int16_t, int32_t>;

template <typename Element>
inline constexpr bool is_vector_real = is_one_of<Element, half, float>;

template <typename Element>
inline constexpr bool is_whole = std::is_integral_v<Element>;

/// Elements that several ranks may add to at once.
template <typename Element>
inline constexpr bool is_atomic_number = is_one_of<Element, half, float, bfloat16_t, int8_t, int16_t, int32_t>;

/// The type in which an element is calculated with: one rounding, when the result is stored.
template <typename Element>
using Computed = std::conditional_t<is_one_of<Element, half, bfloat16_t>, float, Element>;

/// Elements of that many bytes, whatever they mean: for what only moves them.
template <size_t bytes>
using UnsignedOf =
    std::conditional_t<bytes == 1, uint8_t,
                       std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

/// Integers wrap around.
template <typename Number>
using Wrapping = std::conditional_t<(sizeof(Number) < 4), uint32_t, std::make_unsigned_t<Number>>;

}  // namespace baton::kernel
