// The portable conversion of half against the compiler's own type, for all values and all boundaries.
#undef __ARM_FP16_FORMAT_IEEE
#define half portable_half  // a type of its own: the rest of the program uses the processor's conversion
#define half_bits_from_float portable_half_bits_from_float
#define float_from_half_bits portable_float_from_half_bits
#define float_rounded_to_odd portable_float_rounded_to_odd
#define float_before_narrowing portable_float_before_narrowing
#include <bit>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>
#include <pto/common/half.hpp>

namespace {

#if defined(__aarch64__)
using Reference = __fp16;
#elif defined(__FLT16_MAX__)
using Reference = _Float16;
#endif

#if defined(__aarch64__) || defined(__FLT16_MAX__)

void expect_same(float value) {
  const auto wanted = std::bit_cast<std::uint16_t>(static_cast<Reference>(value));
  ASSERT_EQ(portable_half(value).bits, wanted) << std::hexfloat << value;
}

TEST(PortableHalf, DecodesAsTheCompilerDoes) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float wanted = static_cast<float>(std::bit_cast<Reference>(bits));
    const float got = portable_half::from_bits(bits);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(wanted)) << i;
  }
}

TEST(PortableHalf, EncodesAsTheCompilerDoes) {
  // Every upper half of a float, with the lower bits at which rounding can change.
  for (std::uint32_t upper = 0; upper < 0x100000; ++upper) {
    for (const std::uint32_t lower : {0x000u, 0x001u, 0x7ffu, 0x800u, 0x801u, 0xfffu}) {
      expect_same(std::bit_cast<float>((upper << 12) | lower));
      if (HasFatalFailure()) return;
    }
  }
}

#endif

}  // namespace
