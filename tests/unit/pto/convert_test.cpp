// TCVT: every pair of types, every rounding, both kinds of overflow.
#include <bit>
#include <random>

#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

constexpr RoundMode kModes[] = {RoundMode::CAST_NONE,  RoundMode::CAST_RINT, RoundMode::CAST_ROUND,
                                RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL, RoundMode::CAST_TRUNC};

/// A row of at most 4096 elements through TCVT.
template <typename Dst, typename Src, typename... More>
std::vector<Dst> converted(const std::vector<Src>& input, RoundMode mode, More... more) {
  const TestCore core;
  VecTile<Src, 1, 4096> src(1, input.size());
  VecTile<Dst, 1, 4096> dst(1, input.size());
  TASSIGN(src, 0);
  TASSIGN(dst, 0x10000);
  std::memcpy(static_cast<void*>(src.data()), input.data(), input.size() * sizeof(Src));
  TCVT(dst, src, mode, more...);
  return {dst.data(), dst.data() + input.size()};
}

long double rounded_to_whole(long double value, RoundMode mode) {
  const long double below = std::floor(value);
  const long double rest = value - below;
  switch (mode) {
    case RoundMode::CAST_RINT: return rest > 0.5L || (rest == 0.5L && std::fmod(below, 2) != 0) ? below + 1 : below;
    case RoundMode::CAST_ROUND: return value < 0 ? -std::floor(-value + 0.5L) : std::floor(value + 0.5L);
    case RoundMode::CAST_FLOOR: return below;
    case RoundMode::CAST_CEIL: return rest > 0 ? below + 1 : below;
    default: return value < 0 ? std::ceil(value) : below;
  }
}

template <typename Whole>
Whole as_whole(long double value, SaturationMode saturation) {
  if (std::isnan(value)) return 0;
  const auto max = static_cast<long double>(std::numeric_limits<Whole>::max());
  const auto min = static_cast<long double>(std::numeric_limits<Whole>::min());
  if (saturation == SaturationMode::ON) return static_cast<Whole>(value > max ? max : value < min ? min : value);
  if (std::isinf(value)) return 0;
  const long double modulus = std::ldexp(1.0L, 64);
  long double rest = std::fmod(value, modulus);
  if (rest < 0) rest += modulus;
  return static_cast<Whole>(static_cast<std::uint64_t>(rest));
}

std::vector<float> interesting_floats() {
  std::vector<float> values = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f, 1e-45f, 1e19f, -1e19f, 5e18f};
  for (const float base : {0.5f, 1.5f, 2.5f, 127.5f, 128.0f, 255.5f, 256.0f, 32767.5f, 32768.0f, 65504.0f, 65519.0f,
                           65520.0f, 2147483648.0f, 4294967296.0f, 9223372036854775808.0f, 6.1e-5f, 3e-8f, 1.0f / 3}) {
    for (const float value : {base, std::nextafterf(base, 0), std::nextafterf(base, INFINITY)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  std::mt19937 random(17);
  while (values.size() < 4000) {
    values.push_back(random() % 2 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(random()))
                                       : (static_cast<float>(random() % 100000) - 50000.0f) / 4);
  }
  return values;
}

template <typename Src>
std::vector<Src> interesting() {
  if constexpr (std::is_integral_v<Src>) {
    Values random(23);
    std::vector<Src> values;
    for (int i = 0; i < 4000; ++i) values.push_back(random.next<Src>());
    return values;
  } else {
    std::vector<Src> values;
    for (const float value : interesting_floats()) values.push_back(static_cast<Src>(value));
    return values;
  }
}

template <typename Src, typename Dst>
struct Pair {
  using From = Src;
  using To = Dst;
};

template <typename Types>
class ToWhole : public ::testing::Test {};
using WholePairs =
    ::testing::Types<Pair<float, int16_t>, Pair<float, int32_t>, Pair<float, int64_t>, Pair<half, int32_t>,
                     Pair<half, int16_t>, Pair<half, int8_t>, Pair<half, uint8_t>, Pair<bfloat16_t, int32_t>>;
TYPED_TEST_SUITE(ToWhole, WholePairs);

TYPED_TEST(ToWhole, RoundsThenSaturatesOrWraps) {
  using Src = typename TypeParam::From;
  using Dst = typename TypeParam::To;
  const auto input = interesting<Src>();
  for (const RoundMode mode : kModes) {
    for (const SaturationMode saturation : {SaturationMode::ON, SaturationMode::OFF}) {
      const auto got = converted<Dst>(input, mode, saturation);
      for (std::size_t i = 0; i < input.size(); ++i) {
        const long double value = static_cast<float>(input[i]);
        const bool finite = std::isfinite(value);
        ASSERT_EQ(got[i], as_whole<Dst>(finite ? rounded_to_whole(value, mode) : value, saturation))
            << static_cast<float>(input[i]) << " mode " << static_cast<int>(mode);
      }
    }
  }
}

// Rounding into a float format by its definition: of the two neighbours in the sorted list of all finite numbers.
template <typename Real>
const std::vector<double>& finite_numbers() {
  static const std::vector<double> numbers = [] {
    std::vector<double> result;
    const unsigned infinity = std::is_same_v<Real, half> ? 0x7c00 : 0x7f80;
    for (unsigned i = 0; i < infinity; ++i)
      result.push_back(static_cast<float>(Real::from_bits(static_cast<uint16_t>(i))));
    return result;
  }();
  return numbers;
}

template <typename Real>
Real narrowed(double value, RoundMode mode, SaturationMode saturation) {
  const auto& numbers = finite_numbers<Real>();
  const bool negative = std::signbit(value);
  const double magnitude = std::fabs(value);
  const auto sign = static_cast<std::uint16_t>(negative ? 0x8000 : 0);
  const auto infinity = static_cast<std::uint16_t>(numbers.size());
  if (std::isnan(value)) return static_cast<Real>(static_cast<float>(value));
  if (std::isinf(value)) return Real::from_bits(sign | infinity);
  const auto next = std::upper_bound(numbers.begin(), numbers.end(), magnitude);
  const auto low = static_cast<std::uint16_t>(next - numbers.begin() - 1);
  const double below = numbers[low];
  const double top = numbers.back();
  const double above = next == numbers.end() ? top + (top - numbers[numbers.size() - 2]) : *next;
  bool up = false;
  switch (mode) {
    case RoundMode::CAST_NONE:
    case RoundMode::CAST_RINT:
      up = magnitude - below > above - magnitude || (magnitude - below == above - magnitude && low % 2 == 1);
      break;
    case RoundMode::CAST_ROUND: up = magnitude - below >= above - magnitude; break;
    case RoundMode::CAST_FLOOR: up = negative && magnitude != below; break;
    case RoundMode::CAST_CEIL: up = !negative && magnitude != below; break;
    case RoundMode::CAST_TRUNC: break;
    case RoundMode::CAST_ODD: up = magnitude != below && low % 2 == 0; break;
  }
  auto bits = static_cast<std::uint16_t>(low + (up ? 1 : 0));
  if (bits == infinity && saturation == SaturationMode::ON) --bits;
  return Real::from_bits(sign | bits);
}

template <typename Real, typename Src>
void expect_narrowing(const std::vector<RoundMode>& modes) {
  const auto input = interesting<Src>();
  for (const RoundMode mode : modes) {
    for (const SaturationMode saturation : {SaturationMode::ON, SaturationMode::OFF}) {
      const auto got = converted<Real>(input, mode, saturation);
      for (std::size_t i = 0; i < input.size(); ++i) {
        const Real wanted = narrowed<Real>(static_cast<double>(input[i]), mode, saturation);
        ASSERT_TRUE(same_value(got[i], wanted)) << static_cast<double>(input[i]) << " mode " << static_cast<int>(mode)
                                                << ": " << std::hex << got[i].bits << ", not " << wanted.bits;
      }
    }
  }
}

TEST(Narrowing, FloatToHalf) {
  expect_narrowing<half, float>({std::begin(kModes), std::end(kModes)});
  expect_narrowing<half, float>({RoundMode::CAST_ODD});
}
TEST(Narrowing, FloatToBfloat16) { expect_narrowing<bfloat16_t, float>({std::begin(kModes), std::end(kModes)}); }

// Pieces without large numbers take a way of their own: with none, and with one at any place.
template <typename Real>
void expect_narrowing_among_ordinary_numbers() {
  const auto last = static_cast<std::uint16_t>(finite_numbers<Real>().size() - 1);
  const auto largest = std::bit_cast<std::uint32_t>(static_cast<float>(Real::from_bits(last)));
  std::mt19937 random(7);
  std::vector<float> ordinary(203);
  for (float& value : ordinary) {
    value = std::bit_cast<float>(static_cast<std::uint32_t>(random() % (largest + 1) | (random() % 2 << 31U)));
  }
  ordinary[5] = std::bit_cast<float>(largest);
  ordinary[6] = std::bit_cast<float>(0x3f808000U);  // between two of bfloat16, of which the lower one is even
  ordinary[7] = std::bit_cast<float>(0xbf818000U);
  ordinary[8] = std::bit_cast<float>(0x3f801000U);  // and of half
  const auto expect_all = [](const std::vector<float>& input) {
    const auto got = converted<Real>(input, RoundMode::CAST_RINT);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const auto wanted = narrowed<Real>(static_cast<double>(input[i]), RoundMode::CAST_RINT, SaturationMode::ON);
      ASSERT_EQ(got[i].bits, wanted.bits) << input[i] << " at " << i;
    }
  };
  expect_all(ordinary);
  for (const std::uint32_t odd :
       {largest + 1, largest + 0x7fff, 0x7f7fffffU, 0x7f800000U, 0xff800000U, 0xff7fffffU, 0x7fc00001U, 0xff800001U}) {
    for (std::size_t place = 0; place < ordinary.size(); place += 3) {
      std::vector<float> input = ordinary;
      input[place] = std::bit_cast<float>(odd);
      expect_all(input);
    }
  }
}
TEST(Narrowing, FloatToHalfAmongOrdinaryNumbers) { expect_narrowing_among_ordinary_numbers<half>(); }
TEST(Narrowing, FloatToBfloat16AmongOrdinaryNumbers) { expect_narrowing_among_ordinary_numbers<bfloat16_t>(); }
TEST(Narrowing, Int32ToHalf) {
  expect_narrowing<half, int32_t>({std::begin(kModes), std::end(kModes)});
  std::vector<int32_t> input;
  for (int32_t i = -66000; i <= 66000; i += 37) input.push_back(i);
  for (const RoundMode mode : kModes) {
    const auto got = converted<half>(input, mode);
    for (std::size_t i = 0; i < input.size(); ++i) {
      ASSERT_EQ(got[i].bits, narrowed<half>(input[i], mode, SaturationMode::ON).bits) << input[i];
    }
  }
}
TEST(Narrowing, WithAScratchTile) {
  const TestCore core;
  VecTile<int32_t, 1, 32> src(1, 3);
  VecTile<half, 1, 32> dst(1, 3);
  VecTile<uint8_t, 1, 256> tmp(1, 256);
  TASSIGN(src, 0);
  TASSIGN(dst, 0x100);
  TASSIGN(tmp, 0x200);
  for (int i = 0; i < 3; ++i) element(src, 0, i) = 2049 * i;
  TCVT(dst, src, tmp, RoundMode::CAST_ROUND, SaturationMode::OFF);
  EXPECT_EQ(static_cast<float>(element(dst, 0, 1)), 2050.0f);
  TCVT(dst, src, tmp, RoundMode::CAST_RINT);
  EXPECT_EQ(static_cast<float>(element(dst, 0, 1)), 2048.0f);
  EXPECT_EQ(tmp.data()[255], 0xff);
  VecTile<float, 1, 16> x(1, 4);
  TASSIGN(x, 0x400);
  TEXPANDS(x, 4.0f);
  TRSQRT(x, x, src);
  EXPECT_EQ(element(x, 0, 3), 0.5f);
  EXPECT_THROW(TRSQRT(x, x, x), KernelFailure);
}
TEST(Narrowing, Int16ToHalf) { expect_narrowing<half, int16_t>({std::begin(kModes), std::end(kModes)}); }

template <typename Whole>
void expect_to_float() {
  const auto input = interesting<Whole>();
  for (const RoundMode mode : kModes) {
    const auto got = converted<float>(input, mode);
    for (std::size_t i = 0; i < input.size(); ++i) {
      // The two floats around the number, by hand.
      const auto exact = static_cast<long double>(input[i]);
      auto low = static_cast<float>(input[i]);
      if (static_cast<long double>(low) > exact) low = std::nextafterf(low, -INFINITY);
      const float high = static_cast<long double>(low) == exact ? low : std::nextafterf(low, INFINITY);
      float wanted = 0;
      switch (mode) {
        case RoundMode::CAST_FLOOR: wanted = low; break;
        case RoundMode::CAST_CEIL: wanted = high; break;
        case RoundMode::CAST_TRUNC: wanted = input[i] < 0 ? high : low; break;
        case RoundMode::CAST_ROUND: {
          const long double down = exact - low;
          const long double up = high - exact;
          wanted = down == up ? (input[i] < 0 ? low : high) : down < up ? low : high;
          break;
        }
        default: wanted = static_cast<float>(input[i]);
      }
      ASSERT_EQ(got[i], wanted) << input[i] << " mode " << static_cast<int>(mode);
    }
  }
}

TEST(Narrowing, Int32ToFloat) { expect_to_float<int32_t>(); }
TEST(Narrowing, Int64ToFloat) { expect_to_float<int64_t>(); }

template <typename Types>
class Widening : public ::testing::Test {};
using ExactPairs = ::testing::Types<Pair<half, float>, Pair<bfloat16_t, float>, Pair<int16_t, float>,
                                    Pair<int8_t, half>, Pair<uint8_t, half>, Pair<int32_t, int64_t>>;
TYPED_TEST_SUITE(Widening, ExactPairs);

TYPED_TEST(Widening, IsExact) {
  using Dst = typename TypeParam::To;
  const auto input = interesting<typename TypeParam::From>();
  for (const RoundMode mode : kModes) {
    const auto got = converted<Dst>(input, mode);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double wanted = static_cast<double>(input[i]);
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(static_cast<double>(got[i])));
      } else {
        ASSERT_EQ(static_cast<double>(got[i]), wanted);
      }
    }
  }
}

TEST(Integers, SaturateOrWrap) {
  const std::vector<int32_t> wide = {0, 40000, -40000, 32767, -32768, 65536, INT32_MAX, INT32_MIN};
  EXPECT_EQ((converted<int16_t>(wide, RoundMode::CAST_NONE)),
            (std::vector<int16_t>{0, -25536, 25536, 32767, -32768, 0, -1, 0}));
  EXPECT_EQ((converted<int16_t>(wide, RoundMode::CAST_NONE, SaturationMode::ON)),
            (std::vector<int16_t>{0, 32767, -32768, 32767, -32768, 32767, 32767, -32768}));
  const std::vector<int64_t> long_ones = {INT64_MAX, INT64_MIN, 5'000'000'000, -5'000'000'000, 7};
  EXPECT_EQ((converted<int32_t>(long_ones, RoundMode::CAST_NONE)),
            (std::vector<int32_t>{-1, 0, 705032704, -705032704, 7}));
  EXPECT_EQ((converted<int32_t>(long_ones, RoundMode::CAST_NONE, SaturationMode::ON)),
            (std::vector<int32_t>{INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 7}));
}

TEST(Defaults, SaturateExceptWhereTheyWrap) {
  const std::vector<float> large = {1e9f};
  const std::vector<float> larger = {1e10f};
  EXPECT_EQ(converted<half>(large, RoundMode::CAST_RINT)[0].bits, 0x7bff);
  EXPECT_EQ(converted<int32_t>(larger, RoundMode::CAST_RINT)[0], INT32_MAX);
  EXPECT_EQ(converted<int16_t>(large, RoundMode::CAST_RINT)[0], static_cast<int16_t>(1000000000));
  const std::vector<half> halves = {half(300.0f)};
  EXPECT_EQ(converted<int8_t>(halves, RoundMode::CAST_RINT)[0], 44);
  EXPECT_EQ(converted<uint8_t>(halves, RoundMode::CAST_RINT)[0], 44);
  EXPECT_EQ(converted<int16_t>(std::vector<half>{half(40000.0f)}, RoundMode::CAST_RINT)[0],
            static_cast<int16_t>(40000));
}

TEST(Convert, NarrowsInPlaceAndRowByRow) {
  const TestCore core;
  VecTile<float, 4, 64> src(4, 40);
  VecTile<half, 4, 128> dst(4, 40);  // rows as far apart as the source's
  TASSIGN(src, 0);
  TASSIGN(dst, 0);
  Values values(1);
  const auto x = values.moderate_matrix<float>(4, 40);
  write_valid(src, x);
  TCVT<false>(dst, src, RoundMode::CAST_RINT);
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 40; ++c) {
      ASSERT_EQ(element(dst, r, c).bits, half(x[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]).bits);
    }
  }
}

TEST(Convert, RejectsOddWhereItIsNotDefined) {
  EXPECT_THROW((converted<bfloat16_t>(std::vector<float>{1.0f}, RoundMode::CAST_ODD)), KernelFailure);
  EXPECT_THROW((converted<int32_t>(std::vector<float>{1.0f}, RoundMode::CAST_ODD)), KernelFailure);
}

}  // namespace
