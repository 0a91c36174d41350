// Binary floating-point formats and the one way to round a number into one of them.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>
#include <pto/common/enums.hpp>

namespace baton::kernel {

/// An IEEE-like format: sign, exponent, `precision - 1` stored bits of significand.
struct FloatFormat {
  int bits;
  int precision;      // with the bit that is not stored
  int least_power;    // of the last bit of a denormal
  uint32_t infinity;  // as stored

  constexpr AICORE uint32_t sign_bit() const { return uint32_t{1} << (bits - 1); }
};

inline constexpr FloatFormat kBinary16{16, 11, -24, 0x7c00};
inline constexpr FloatFormat kBfloat16{16, 8, -133, 0x7f80};
inline constexpr FloatFormat kBinary32{32, 24, -149, 0x7f800000};

/// Whether a magnitude that lies between two neighbours goes to the larger one. `rest` is what lies above the smaller
/// one, `middle` half the distance of the two.
constexpr AICORE bool rounds_up(pto::RoundMode mode, bool negative, bool smaller_is_odd, uint64_t rest,
                                uint64_t middle) {
  switch (mode) {
    case pto::RoundMode::CAST_NONE:
    case pto::RoundMode::CAST_RINT: return rest > middle || (rest == middle && smaller_is_odd);
    case pto::RoundMode::CAST_ROUND: return rest >= middle;
    case pto::RoundMode::CAST_FLOOR: return rest != 0 && negative;
    case pto::RoundMode::CAST_CEIL: return rest != 0 && !negative;
    case pto::RoundMode::CAST_TRUNC: return false;
    case pto::RoundMode::CAST_ODD: return rest != 0 && !smaller_is_odd;
  }
  return false;
}

/// The bits of magnitude * 2^power in `format`. Too large numbers become infinite, or the largest finite number where
/// the mode rounds toward zero or `saturation` is on.
constexpr AICORE uint32_t round_into(FloatFormat format, bool negative, uint64_t magnitude, int power,
                                     pto::RoundMode mode, pto::SaturationMode saturation) {
  const uint32_t sign = negative ? format.sign_bit() : 0;
  if (magnitude == 0) return sign;
  const int width = 64 - __builtin_clzll(magnitude);
  const int wanted = power + width - format.precision;
  const int last_power = wanted > format.least_power ? wanted : format.least_power;
  const int dropped = last_power - power;
  uint64_t kept = 0;
  if (dropped <= 0) {
    kept = magnitude << -dropped;
  } else if (dropped > 64) {
    kept = rounds_up(mode, negative, false, 1, 2) ? 1 : 0;
  } else {
    kept = dropped == 64 ? 0 : magnitude >> dropped;
    const uint64_t rest = dropped == 64 ? magnitude : magnitude & ((uint64_t{1} << dropped) - 1);
    if (rounds_up(mode, negative, (kept & 1) != 0, rest, uint64_t{1} << (dropped - 1))) ++kept;
  }
  // A carry out of the significand lands in the exponent, which is what it has to do.
  const uint64_t exponent = static_cast<uint64_t>(last_power - format.least_power) << (format.precision - 1);
  const uint64_t bits = exponent + kept;
  if (bits < format.infinity) return sign | static_cast<uint32_t>(bits);
  const bool to_infinity =
      saturation == pto::SaturationMode::OFF &&
      (mode == pto::RoundMode::CAST_NONE || mode == pto::RoundMode::CAST_RINT || mode == pto::RoundMode::CAST_ROUND ||
       (mode == pto::RoundMode::CAST_FLOOR && negative) || (mode == pto::RoundMode::CAST_CEIL && !negative));
  return sign | (to_infinity ? format.infinity : format.infinity - 1);
}

/// round_into() for a float given by its bits, finite or not. NaN stays NaN, quiet, with what fits of its payload.
constexpr AICORE uint32_t round_float_into(FloatFormat format, uint32_t bits, pto::RoundMode mode,
                                           pto::SaturationMode saturation) {
  const bool negative = (bits >> 31) != 0;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= kBinary32.infinity) {
    const uint32_t sign = negative ? format.sign_bit() : 0;
    if (magnitude == kBinary32.infinity) return sign | format.infinity;
    const uint32_t payload = (magnitude & 0x007fffff) >> (kBinary32.precision - format.precision);
    return sign | format.infinity | (uint32_t{1} << (format.precision - 2)) | payload;
  }
  const uint32_t exponent = magnitude >> 23;
  const uint32_t fraction = magnitude & 0x007fffff;
  const uint64_t significand = exponent == 0 ? fraction : fraction | 0x00800000;
  const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - 150;
  return round_into(format, negative, significand, power, mode, saturation);
}

}  // namespace baton::kernel
