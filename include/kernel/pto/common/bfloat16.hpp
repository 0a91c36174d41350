// `bfloat16_t`: the upper half of a float, converting to and from float to the bit.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/half.hpp>

namespace baton::kernel {

/// Nearest, ties to even. NaN stays NaN, quiet, with the upper bits of its payload.
constexpr PTO_INLINE AICORE uint16_t bfloat16_bits_from_float(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t quiet = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

constexpr PTO_INLINE AICORE float float_from_bfloat16_bits(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

}  // namespace baton::kernel

/// Converts; has no arithmetic of its own.
struct bfloat16_t {
  uint16_t bits;

  bfloat16_t() = default;
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  constexpr AICORE bfloat16_t(Number value)  // NOLINT(google-explicit-constructor): as half
      : bits(baton::kernel::bfloat16_bits_from_float(baton::kernel::float_before_narrowing(value))) {}

  constexpr AICORE operator float() const { return baton::kernel::float_from_bfloat16_bits(bits); }  // NOLINT

  static constexpr AICORE bfloat16_t from_bits(uint16_t bits) { return __builtin_bit_cast(bfloat16_t, bits); }
};

static_assert(sizeof(bfloat16_t) == 2 && std::is_trivially_copyable_v<bfloat16_t> &&
              std::is_trivially_default_constructible_v<bfloat16_t>);
