// `half`: IEEE binary16, converting to and from float to the bit.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>
#include <bit>
#include <pto/target/compiler.hpp>
#include <type_traits>

namespace baton::kernel {

/// Nearest, ties to even. NaN stays NaN, quiet, with the upper bits of its payload.
constexpr PTO_INLINE AICORE uint16_t half_bits_from_float(float value) {
#if defined(__ARM_FP16_FORMAT_IEEE) && !defined(__CUDACC__)
  if (!std::is_constant_evaluated()) return __builtin_bit_cast(uint16_t, static_cast<__fp16>(value));
#endif
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t result = 0;
  if (magnitude >= 0x47800000) {  // 2^16 and above
    result = magnitude > 0x7f800000 ? 0x7e00 | ((magnitude >> 13) & 0x1ff) : 0x7c00;
  } else if (magnitude < 0x38800000) {  // below 2^-14: adding 0.5 rounds at the last bit of a denormal
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    result = __builtin_bit_cast(uint32_t, shifted) - 0x3f000000;
  } else {
    result = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  }
  return static_cast<uint16_t>(sign | result);
}

constexpr PTO_INLINE AICORE float float_from_half_bits(uint16_t bits) {
#if defined(__ARM_FP16_FORMAT_IEEE) && !defined(__CUDACC__)
  if (!std::is_constant_evaluated()) return static_cast<float>(__builtin_bit_cast(__fp16, bits));
#endif
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff);
  uint32_t result = (magnitude << 13) + 0x38000000;
  if (magnitude >= 0x7c00) {
    result = 0x7f800000 | (magnitude << 13) | (magnitude > 0x7c00 ? 0x00400000 : 0);
  } else if (magnitude < 0x0400) {  // a denormal is a whole number of 2^-24
    result = __builtin_bit_cast(uint32_t, static_cast<float>(magnitude) * 0x1p-24f);
  }
  return __builtin_bit_cast(float, sign | result);
}

/// A double as a float that rounds to any narrower format as the double itself would: inexact results are made odd.
constexpr AICORE float float_rounded_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || nearest != nearest) return nearest;
  const uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  const double magnitude = value < 0 ? -value : value;
  const double nearest_magnitude = nearest < 0 ? -static_cast<double>(nearest) : static_cast<double>(nearest);
  const uint32_t below = nearest_magnitude > magnitude ? bits - 1 : bits;
  return __builtin_bit_cast(float, below | 1);
}

/// The float through which a number reaches a 16-bit format with one rounding.
template <typename Number>
constexpr PTO_INLINE AICORE float float_before_narrowing(Number value) {
  if constexpr (std::is_same_v<Number, float>) {
    return value;
  } else if constexpr (std::is_integral_v<Number> && sizeof(Number) <= 2) {
    return static_cast<float>(value);
  } else if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
    // Beyond 2^53 a double rounds too; the lowest bits only have to keep it off a tie.
    const bool wide = value > (Number{1} << 53) || (std::is_signed_v<Number> && value < -(Number{1} << 52) * 2);
    return float_rounded_to_odd(static_cast<double>(wide ? ((value >> 12) | Number{(value & 0xfff) != 0}) : value)) *
           (wide ? 4096.0f : 1.0f);
  } else {
    return float_rounded_to_odd(static_cast<double>(value));
  }
}

}  // namespace baton::kernel

/// Arithmetic happens in float; storing rounds to the nearest, ties to even.
struct half {
  uint16_t bits;

  half() = default;
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  constexpr AICORE half(
      Number value)  // NOLINT(google-explicit-constructor): numbers become half like any narrower type
      : bits(baton::kernel::half_bits_from_float(baton::kernel::float_before_narrowing(value))) {}

  constexpr AICORE operator float() const { return baton::kernel::float_from_half_bits(bits); }  // NOLINT

  static constexpr AICORE half from_bits(uint16_t bits) { return __builtin_bit_cast(half, bits); }
};

static_assert(sizeof(half) == 2 && std::is_trivially_copyable_v<half> &&
              std::is_trivially_default_constructible_v<half>);
