#include <bit>

#include "collectives/arithmetic.hpp"
#include "collectives/arithmetic_loops.hpp"

namespace baton::collectives {
namespace {

struct NarrowSum {
  static float of(float a, float b) { return a + b; }
};
struct NarrowProduct {
  static float of(float a, float b) { return a * b; }
};

/// IEEE binary16. Nearest, ties to even; NaN stays NaN.
struct Half {
#if defined(__ARM_FP16_FORMAT_IEEE)
  static float to_float(std::uint16_t bits) { return static_cast<float>(std::bit_cast<__fp16>(bits)); }
  static std::uint16_t from_float(float value) { return std::bit_cast<std::uint16_t>(static_cast<__fp16>(value)); }
#else
  static constexpr std::uint32_t kExponentShift = 112;  // 127 - 15, the difference of the biases
  static float to_float(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    if (exponent == 0) {  // a whole number of 2^-24
      const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t wide = exponent == 0x1fU ? 0xffU : exponent + kExponentShift;
    return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
  }
  static std::uint16_t from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | (magnitude >> 13U & 0x1ffU));
    if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
    if (magnitude <
        0x38800000U) {  // below the least normal number: adding 0.5 leaves multiples of 2^-24 in the fraction
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
    }
    const std::uint32_t odd = magnitude >> 13U & 1U;
    return static_cast<std::uint16_t>(sign | (magnitude - (kExponentShift << 23U) + 0xfffU + odd) >> 13U);
  }
#endif
};

/// The upper half of a float. Nearest, ties to even; NaN stays NaN.
struct Bfloat {
  static float to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }
  static std::uint16_t from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
    const std::uint32_t quiet = bits >> 16U | 0x40U;
    return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
  }
};

template <class Format>
void reduce_as(std::byte* to, std::span<const std::byte* const> from, std::size_t count, ReduceOp op,
               std::uint32_t divisor) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg: return reduce_converted<Format, NarrowSum>(to, from, count, divisor);
    case ReduceOp::prod: return reduce_converted<Format, NarrowProduct>(to, from, count, divisor);
    case ReduceOp::min: return reduce_converted<Format, Min>(to, from, count, divisor);
    case ReduceOp::max: return reduce_converted<Format, Max>(to, from, count, divisor);
    case ReduceOp::bit_and:
    case ReduceOp::bit_or:
    case ReduceOp::bit_xor: return;  // check_op() refuses them
  }
}

}  // namespace

void reduce_narrow_floats(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                          ReduceOp op, std::uint32_t divisor) {
  if (element == Element::float16) return reduce_as<Half>(to, from, count, op, divisor);
  reduce_as<Bfloat>(to, from, count, op, divisor);
}

}  // namespace baton::collectives
