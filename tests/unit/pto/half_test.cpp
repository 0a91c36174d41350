// half and bfloat16_t to the bit.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>
#include <pto/common/pto_tile.hpp>

#include <pto/common/float_format.hpp>

namespace {

using baton::kernel::round_float_into;

// Rounding to the nearest by comparing with both neighbours, in double. Knows nothing of bits but the order of values.
template <typename Real>
std::uint16_t nearest_by_search(float value, const Real* finite, int count) {
  const double magnitude = std::fabs(static_cast<double>(value));
  int low = 0;
  int high = count;  // of finite[i] <= magnitude < finite[i + 1]
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (static_cast<double>(static_cast<float>(finite[middle])) <= magnitude ? low : high) = middle;
  }
  const double below = static_cast<float>(finite[low]);
  const double top = static_cast<float>(finite[count - 1]);
  const double above = low + 1 < count ? static_cast<float>(finite[low + 1])
                                       : top + (top - static_cast<double>(static_cast<float>(finite[count - 2])));
  const bool up = magnitude - below > above - magnitude || (magnitude - below == above - magnitude && low % 2 == 1);
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  return static_cast<std::uint16_t>(sign | (low + (up ? 1 : 0)));  // one past the largest finite number is infinity
}

// A decoder of its own: from sign, exponent and fraction.
float decode(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double value = exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                               : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  if (exponent == (1 << exponent_bits) - 1) value = fraction == 0 ? INFINITY : NAN;
  return static_cast<float>((bits & 0x8000) != 0 ? -value : value);
}

template <typename Real>
struct Format;
template <>
struct Format<half> {
  static constexpr int kExponent = 5, kFraction = 10;
  static constexpr auto kFormat = baton::kernel::kBinary16;
};
template <>
struct Format<bfloat16_t> {
  static constexpr int kExponent = 8, kFraction = 7;
  static constexpr auto kFormat = baton::kernel::kBfloat16;
};

template <typename Real>
class SixteenBits : public ::testing::Test {};
using Types = ::testing::Types<half, bfloat16_t>;
TYPED_TEST_SUITE(SixteenBits, Types);

TYPED_TEST(SixteenBits, BecomesTheFloatThatItsBitsSay) {
  using F = Format<TypeParam>;
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float got = TypeParam::from_bits(bits);
    const float wanted = decode(bits, F::kExponent, F::kFraction);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << i;
      ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << i;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(wanted)) << i;
    }
  }
}

TYPED_TEST(SixteenBits, SurvivesTheWayThroughFloat) {
  using F = Format<TypeParam>;
  const auto quiet = static_cast<std::uint16_t>(1 << (F::kFraction - 1));
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    // Volatile: compilers fold the way there and back, and with it the quieting of a signaling NaN.
    const volatile float wide = TypeParam::from_bits(bits);
    const TypeParam back(static_cast<float>(wide));
    const bool nan = std::isnan(static_cast<float>(back));
    ASSERT_EQ(back.bits, nan ? bits | quiet : bits) << i;  // the payload stays
  }
}

TYPED_TEST(SixteenBits, RoundsToTheNearestEven) {
  using F = Format<TypeParam>;
  const int finite = F::kFormat.infinity;
  std::vector<TypeParam> numbers;
  for (int i = 0; i < finite; ++i) numbers.push_back(TypeParam::from_bits(static_cast<std::uint16_t>(i)));
  // Around every number and every midpoint of neighbours.
  for (int i = 0; i < finite; ++i) {
    const float here = numbers[static_cast<std::size_t>(i)];
    const float next = i + 1 < finite ? static_cast<float>(numbers[static_cast<std::size_t>(i + 1)]) : here;
    const float middle = static_cast<float>((static_cast<double>(here) + next) / 2);
    for (const float center : {here, middle}) {
      for (const float value : {std::nextafterf(center, -INFINITY), center, std::nextafterf(center, INFINITY)}) {
        ASSERT_EQ(TypeParam(value).bits, nearest_by_search(value, numbers.data(), finite)) << value;
        ASSERT_EQ(TypeParam(-value).bits, nearest_by_search(-value, numbers.data(), finite)) << -value;
      }
    }
  }
  // Where the format ends.
  const float largest = numbers.back();
  const float step = largest - static_cast<float>(numbers[numbers.size() - 2]);
  const float limit = static_cast<float>(static_cast<double>(largest) + static_cast<double>(step) / 2);
  EXPECT_EQ(TypeParam(std::nextafterf(limit, 0)).bits, finite - 1);
  EXPECT_EQ(TypeParam(limit).bits, finite);
  EXPECT_EQ(TypeParam(INFINITY).bits, finite);
  EXPECT_EQ(TypeParam(-INFINITY).bits, finite | 0x8000);
}

TYPED_TEST(SixteenBits, AgreesWithTheGeneralRoundingOnAnyFloat) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const auto value = std::bit_cast<float>(bits);
    const std::uint32_t wanted =
        round_float_into(Format<TypeParam>::kFormat, bits, pto::RoundMode::CAST_RINT, pto::SaturationMode::OFF);
    ASSERT_EQ(TypeParam(value).bits, wanted) << std::hex << bits;
  }
}

TYPED_TEST(SixteenBits, ConvertsWithoutASecondRounding) {
  // Just above the middle of two neighbours, by less than a float can say.
  const double middle = 1.0 + std::ldexp(1.0, -Format<TypeParam>::kFraction - 1);
  const double above = middle + std::ldexp(1.0, -40);
  EXPECT_EQ(static_cast<float>(TypeParam(middle)), 1.0f);
  EXPECT_EQ(static_cast<float>(TypeParam(above)), 1.0f + std::ldexp(1.0f, -Format<TypeParam>::kFraction));
  EXPECT_EQ(static_cast<float>(TypeParam(-above)), -1.0f - std::ldexp(1.0f, -Format<TypeParam>::kFraction));
}

TEST(Bfloat16, RoundsLargeIntegersOnce) {
  const std::int64_t middle = (std::int64_t{1} << 60) + (std::int64_t{1} << 52);
  EXPECT_EQ(static_cast<float>(bfloat16_t(middle)), std::ldexp(1.0f, 60));
  EXPECT_EQ(static_cast<float>(bfloat16_t(middle + 1)), std::ldexp(1.0f, 60) + std::ldexp(1.0f, 53));
  EXPECT_EQ(static_cast<float>(bfloat16_t(-middle - 1)), -std::ldexp(1.0f, 60) - std::ldexp(1.0f, 53));
}

#if defined(__ARM_FP16_FORMAT_IEEE)
TEST(Half, AgreesWithTheProcessorInConstantExpressions) {
  // is_constant_evaluated() takes the portable way, the rest of this file the processor's.
  constexpr std::uint16_t kPortable[] = {half(1.0f).bits,  half(65519.9f).bits, half(65520.0f).bits,
                                         half(6e-8f).bits, half(0.33333f).bits, half(-2.98e-8f).bits};
  const float values[] = {1.0f, 65519.9f, 65520.0f, 6e-8f, 0.33333f, -2.98e-8f};
  for (std::size_t i = 0; i < std::size(values); ++i) EXPECT_EQ(half(values[i]).bits, kPortable[i]) << values[i];
  static_assert(static_cast<float>(half::from_bits(0x0001)) == 0x1p-24f);
  static_assert(static_cast<float>(half::from_bits(0x7bff)) == 65504.0f);
}
#endif

TEST(Half, CalculatesInFloat) {
  const half a = 1.5f;
  const half b = 2;
  EXPECT_EQ(a + b, 3.5f);
  EXPECT_TRUE((std::is_same_v<decltype(a * b), float>));
}

}  // namespace
