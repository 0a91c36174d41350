// How one number becomes a number of another element type: rounding and saturation.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/elements.hpp>
#include <pto/common/float_format.hpp>
#include <pto/target/math.hpp>

namespace baton::kernel {

template <typename Real>
inline constexpr FloatFormat format_of = kBinary32;
template <>
inline constexpr FloatFormat format_of<half> = kBinary16;
template <>
inline constexpr FloatFormat format_of<bfloat16_t> = kBfloat16;

template <typename Real>
constexpr AICORE Real real_from_bits(uint32_t bits) {
  if constexpr (sizeof(Real) == 2) {
    return __builtin_bit_cast(Real, static_cast<uint16_t>(bits));
  } else {
    return __builtin_bit_cast(Real, bits);
  }
}

template <size_t count, typename Function>
PTO_INLINE AICORE void change_each(float (&values)[count], Function function) {
  PTO_VECTOR_LOOP
  for (size_t i = 0; i < count; ++i) values[i] = function(values[i]);
}

/// Whole numbers, still as floats. NONE truncates.
template <size_t count>
PTO_SHARED AICORE void round_to_whole(float (&values)[count], pto::RoundMode mode) {
  switch (mode) {
    case pto::RoundMode::CAST_RINT: return change_each(values, [](float x) { return to_nearest_even(x); });
    case pto::RoundMode::CAST_ROUND: return change_each(values, [](float x) { return to_nearest_away(x); });
    case pto::RoundMode::CAST_FLOOR: return change_each(values, [](float x) { return toward_minus(x); });
    case pto::RoundMode::CAST_CEIL: return change_each(values, [](float x) { return toward_plus(x); });
    case pto::RoundMode::CAST_NONE:
    case pto::RoundMode::CAST_TRUNC:
    case pto::RoundMode::CAST_ODD: return change_each(values, [](float x) { return toward_zero(x); });
  }
}

template <typename Whole>
inline constexpr Whole largest_whole = static_cast<Whole>(~uint64_t{0} >>
                                                          (64 - 8 * sizeof(Whole) + (std::is_signed_v<Whole> ? 1 : 0)));
template <typename Whole>
inline constexpr Whole smallest_whole = std::is_signed_v<Whole> ? static_cast<Whole>(-largest_whole<Whole> - 1)
                                                                : Whole{0};

/// A whole number given as a float, or the nearest one that the type has. NaN becomes 0.
template <typename Whole>
PTO_INLINE AICORE Whole saturate_to_whole(float value) {
  constexpr float kAbove = static_cast<float>(largest_whole<Whole> / 2 + 1) * 2.0f;
  constexpr float kLowest = static_cast<float>(smallest_whole<Whole>);
  const bool fits = value >= kLowest && value < kAbove;  // NaN does not
  const auto whole = static_cast<Whole>(fits ? value : 0.0f);
  return value >= kAbove ? largest_whole<Whole> : value < kLowest ? smallest_whole<Whole> : whole;
}

/// The lowest bits of a whole number given as a float. NaN and infinities become 0.
template <typename Whole>
PTO_INLINE AICORE Whole wrap_to_whole(float value) {
  constexpr float kTwo63 = 9223372036854775808.0f;
  if (value > -kTwo63 && value < kTwo63) return static_cast<Whole>(static_cast<int64_t>(value));
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const int shift = static_cast<int>((bits >> 23) & 0xff) - 150;
  if (shift >= 64) return 0;
  const uint64_t magnitude = uint64_t{(bits & 0x007fffff) | 0x00800000} << shift;
  return static_cast<Whole>((bits >> 31) != 0 ? 0 - magnitude : magnitude);
}

template <typename Target, typename Source>
PTO_INLINE AICORE Target saturate_whole(Source value) {
  if (value > static_cast<Source>(largest_whole<Target>)) return largest_whole<Target>;
  if (value < static_cast<Source>(smallest_whole<Target>)) return smallest_whole<Target>;
  return static_cast<Target>(value);
}

/// A float in a narrower format, to the nearest, ties to even. What is too large becomes the largest finite number;
/// infinities stay.
template <typename Real>
PTO_INLINE AICORE Real narrow_saturating(float value) {
  constexpr auto kLargest = static_cast<uint16_t>(format_of<Real>.infinity - 1);
  constexpr float kLimit = float{Real::from_bits(kLargest)};
  const float magnitude = absolute(value);
  const bool too_large = magnitude > kLimit && magnitude < __builtin_inff();
  const float clamped = value < 0 ? -kLimit : kLimit;
  return static_cast<Real>(too_large ? clamped : value);
}

/// Not constexpr: compilers for devices do not cast bits while they compile.
PTO_INLINE AICORE uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }

/// A float that neither saturates nor is infinite or NaN.
template <typename Real>
PTO_INLINE AICORE Real narrow_ordinary(float value) {
  if constexpr (std::is_same_v<Real, bfloat16_t>) {
    const uint32_t bits = bits_of(value);
    return Real::from_bits(static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
  } else {
    return static_cast<Real>(value);
  }
}

/// narrow_saturating() for many. If all are ordinary, which is almost always so, few operations on vectors suffice.
template <typename Real, size_t count>
PTO_INLINE AICORE void narrow_saturating(Real (&after)[count], const float (&before)[count]) {
  constexpr auto kLargest = static_cast<uint16_t>(format_of<Real>.infinity - 1);
  // With this added, magnitudes above the largest number reach the highest bit, and no others.
  const uint32_t room = 0x7fffffff - bits_of(Real::from_bits(kLargest));
  uint32_t reached = 0;
  PTO_VECTOR_LOOP
  for (size_t k = 0; k < count; ++k) reached |= (bits_of(before[k]) & 0x7fffffff) + room;
  if ((reached >> 31) == 0) {
    PTO_VECTOR_LOOP
    for (size_t k = 0; k < count; ++k) after[k].bits = narrow_ordinary<Real>(before[k]).bits;
  } else {
    for (size_t k = 0; k < count; ++k) after[k] = narrow_saturating<Real>(before[k]);
  }
}

/// Any number in a float format that may not hold it exactly.
template <typename Real, typename Number>
PTO_SHARED AICORE Real narrow(Number value, pto::RoundMode mode, pto::SaturationMode saturation) {
  if constexpr (is_whole<Number>) {
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    return real_from_bits<Real>(round_into(format_of<Real>, negative, magnitude, 0, mode, saturation));
  } else {
    return real_from_bits<Real>(
        round_float_into(format_of<Real>, __builtin_bit_cast(uint32_t, value), mode, saturation));
  }
}

constexpr AICORE bool rounds_to_nearest_even(pto::RoundMode mode) {
  return mode == pto::RoundMode::CAST_NONE || mode == pto::RoundMode::CAST_RINT;
}

}  // namespace baton::kernel
