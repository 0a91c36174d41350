// Elementwise instructions against one element at a time.
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

// The reference calculates in double and rounds once; exact for half and float since both are less than half as wide.
template <typename Element>
Element rounded(double value) {
  if constexpr (std::is_same_v<Element, half>) {
    return half(value);
  } else {
    return static_cast<Element>(value);
  }
}

template <typename Element>
double wide(Element value) {
  return static_cast<double>(static_cast<float>(value));
}

template <typename Element>
struct Reference {
  static constexpr bool kWhole = std::is_integral_v<Element>;

  static Element add(Element a, Element b) {
    if constexpr (kWhole) return static_cast<Element>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    return rounded<Element>(wide(a) + wide(b));
  }
  static Element sub(Element a, Element b) {
    if constexpr (kWhole) return static_cast<Element>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    return rounded<Element>(wide(a) - wide(b));
  }
  static Element mul(Element a, Element b) {
    if constexpr (kWhole) return static_cast<Element>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    return rounded<Element>(wide(a) * wide(b));
  }
  static Element max(Element a, Element b) {
    if (a != a || b != b) return static_cast<Element>(NAN);
    return a > b ? a : b;
  }
  static Element min(Element a, Element b) {
    if (a != a || b != b) return static_cast<Element>(NAN);
    return a < b ? a : b;
  }
};

/// Runs `instruction` on tiles of many valid sizes, with separate operands and with dst as a source.
template <typename Element, int Cols, typename Instruction, typename Expected>
void expect_binary(Instruction instruction, Expected expected) {
  Values values(11);
  for (const auto& [rows, cols] : {std::pair{1, 1}, {5, Cols}, {8, Cols}, {3, Cols - 1}, {8, 17}, {2, 3}}) {
    for (const bool in_place : {false, true}) {
      const TestCore core;
      VecTile<Element, 8, Cols> a(rows, cols), b(rows, cols), dst(rows, cols);
      TASSIGN(a, 0);
      TASSIGN(b, 0x8000);
      TASSIGN(dst, in_place ? 0 : 0x10000);
      const auto x = values.matrix<Element>(rows, cols);
      const auto y = values.matrix<Element>(rows, cols);
      write_valid(a, x);
      write_valid(b, y);
      instruction(dst, a, b);
      Matrix<Element> wanted = x;
      for (std::size_t r = 0; r < x.size(); ++r) {
        for (std::size_t c = 0; c < x[r].size(); ++c) wanted[r][c] = expected(x[r][c], y[r][c]);
      }
      ASSERT_TRUE(equal_values(read_valid(dst), wanted)) << rows << " x " << cols << (in_place ? " in place" : "");
    }
  }
}

template <typename Element>
class Arithmetic : public ::testing::Test {};
using Numbers = ::testing::Types<half, float, int16_t, int32_t>;
TYPED_TEST_SUITE(Arithmetic, Numbers);

TYPED_TEST(Arithmetic, OfTwoTiles) {
  using R = Reference<TypeParam>;
  expect_binary<TypeParam, 64>([](auto& d, auto& a, auto& b) { TADD(d, a, b); }, R::add);
  expect_binary<TypeParam, 64>([](auto& d, auto& a, auto& b) { TSUB(d, a, b); }, R::sub);
  expect_binary<TypeParam, 64>([](auto& d, auto& a, auto& b) { TMUL(d, a, b); }, R::mul);
  expect_binary<TypeParam, 48>([](auto& d, auto& a, auto& b) { TMAX(d, a, b); }, R::max);
  expect_binary<TypeParam, 48>([](auto& d, auto& a, auto& b) { TMIN(d, a, b); }, R::min);
}

TYPED_TEST(Arithmetic, WithAScalar) {
  using R = Reference<TypeParam>;
  Values values(5);
  for (int i = 0; i < 4; ++i) {
    const auto s = values.next<TypeParam>();
    const auto with = [s](auto function) { return [=](TypeParam a, TypeParam) { return function(a, s); }; };
    expect_binary<TypeParam, 32>([s](auto& d, auto& a, auto&) { TADDS(d, a, s); }, with(R::add));
    expect_binary<TypeParam, 32>([s](auto& d, auto& a, auto&) { TSUBS(d, a, s); }, with(R::sub));
    expect_binary<TypeParam, 32>([s](auto& d, auto& a, auto&) { TMULS(d, a, s); }, with(R::mul));
    expect_binary<TypeParam, 32>([s](auto& d, auto& a, auto&) { TMAXS(d, a, s); }, with(R::max));
    expect_binary<TypeParam, 32>([s](auto& d, auto& a, auto&) { TMINS(d, a, s); }, with(R::min));
  }
  // A scalar of another type converts to the element type.
  expect_binary<TypeParam, 32>([](auto& d, auto& a, auto&) { TADDS(d, a, 2); },
                               [](TypeParam a, TypeParam) { return R::add(a, static_cast<TypeParam>(2)); });
}

TYPED_TEST(Arithmetic, OfOneTile) {
  using R = Reference<TypeParam>;
  const auto zero = static_cast<TypeParam>(0);
  const auto negative = [&](TypeParam a) {
    if constexpr (std::is_integral_v<TypeParam>) return R::sub(zero, a);
    return rounded<TypeParam>(-wide(a));
  };
  expect_binary<TypeParam, 32>([](auto& d, auto& a, auto&) { TNEG(d, a); },
                               [&](TypeParam a, TypeParam) { return negative(a); });
  expect_binary<TypeParam, 32>([](auto& d, auto& a, auto&) { TABS(d, a); },
                               [&](TypeParam a, TypeParam) {
                                 if constexpr (std::is_integral_v<TypeParam>) return a < 0 ? R::sub(zero, a) : a;
                                 return rounded<TypeParam>(std::fabs(wide(a)));
                               });
  expect_binary<TypeParam, 32>([](auto& d, auto& a, auto&) { TRELU(d, a); },
                               [&](TypeParam a, TypeParam) { return a == a && !(a > zero) ? zero : a; });
}

template <typename Element>
class Reals : public ::testing::Test {};
using RealElements = ::testing::Types<half, float>;
TYPED_TEST_SUITE(Reals, RealElements);

TYPED_TEST(Reals, DivideAndTakeRoots) {
  using E = TypeParam;
  const auto divide = [](E a, E b) { return rounded<E>(wide(a) / wide(b)); };
  expect_binary<E, 32>([](auto& d, auto& a, auto& b) { TDIV(d, a, b); }, divide);
  expect_binary<E, 32>([](auto& d, auto& a, auto&) { TDIVS(d, a, 3.0f); }, [=](E a, E) { return divide(a, E(3.0f)); });
  expect_binary<E, 32>([](auto& d, auto& a, auto&) { TRECIP(d, a); }, [=](E a, E) { return divide(E(1.0f), a); });
  expect_binary<E, 32>([](auto& d, auto& a, auto&) { TSQRT(d, a); },
                       [](E a, E) { return rounded<E>(std::sqrt(wide(a))); });
  expect_binary<E, 32>([](auto& d, auto& a, auto&) { TLRELU(d, a, 0.125f); },
                       [](E a, E) { return a > E(0.0f) ? a : rounded<E>(wide(a) * 0.125); });
}

/// Within a few units of the last place.
template <typename Element, typename Instruction, typename Expected>
void expect_close(Instruction instruction, Expected expected) {
  const TestCore core;
  Values values(3);
  VecTile<Element, 8, 32> src(8, 31), dst(8, 31);
  TASSIGN(src, 0);
  TASSIGN(dst, 0x4000);
  auto x = values.moderate_matrix<Element>(8, 31);
  write_valid(src, x);
  instruction(dst, src);
  const auto got = read_valid(dst);
  const double ulp = std::is_same_v<Element, half> ? 0x1p-10 : 0x1p-22;
  for (std::size_t r = 0; r < x.size(); ++r) {
    for (std::size_t c = 0; c < x[r].size(); ++c) {
      const double wanted = wide(rounded<Element>(expected(wide(x[r][c]))));
      const double value = wide(got[r][c]);
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(value));
      } else if (std::isinf(wanted)) {
        ASSERT_EQ(value, wanted);
      } else {
        ASSERT_NEAR(value, wanted, std::fabs(wanted) * ulp + 1e-7) << wide(x[r][c]);
      }
    }
  }
}

TYPED_TEST(Reals, ExponentialsAndLogarithms) {
  expect_close<TypeParam>([](auto& d, auto& s) { TEXP(d, s); }, [](double x) { return std::exp(x); });
  expect_close<TypeParam>([](auto& d, auto& s) { TLOG(d, s); }, [](double x) { return std::log(x); });
  expect_close<TypeParam>([](auto& d, auto& s) { TRSQRT(d, s); }, [](double x) { return 1 / std::sqrt(x); });
}

TYPED_TEST(Reals, AddAMultiple) {
  const TestCore core;
  Values values(9);
  VecTile<TypeParam, 4, 32> src(4, 30), dst(4, 30);
  TASSIGN(src, 0);
  TASSIGN(dst, 0x4000);
  const auto x = values.moderate_matrix<TypeParam>(4, 30);
  const auto y = values.moderate_matrix<TypeParam>(4, 30);
  write_valid(src, x);
  write_valid(dst, y);
  TAXPY(dst, src, 0.5f);
  Matrix<TypeParam> wanted = y;
  for (std::size_t r = 0; r < x.size(); ++r) {
    for (std::size_t c = 0; c < x[r].size(); ++c)
      wanted[r][c] = rounded<TypeParam>(wide(y[r][c]) + 0.5 * wide(x[r][c]));
  }
  EXPECT_TRUE(equal_values(read_valid(dst), wanted));
}

template <typename Element>
class Bits : public ::testing::Test {};
using Wholes = ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Bits, Wholes);

TYPED_TEST(Bits, AndOrNotShift) {
  using E = TypeParam;
  constexpr int kWidth = sizeof(E) * 8;
  expect_binary<E, 64>([](auto& d, auto& a, auto& b) { TAND(d, a, b); },
                       [](E a, E b) { return static_cast<E>(a & b); });
  expect_binary<E, 64>([](auto& d, auto& a, auto& b) { TOR(d, a, b); }, [](E a, E b) { return static_cast<E>(a | b); });
  expect_binary<E, 64>([](auto& d, auto& a, auto&) { TNOT(d, a); }, [](E a, E) { return static_cast<E>(~a); });
  const auto within = [](E b) { return b >= E{0} && b < static_cast<E>(kWidth); };
  expect_binary<E, 64>([](auto& d, auto& a, auto& b) { TSHL(d, a, b); },
                       [&](E a, E b) { return within(b) ? static_cast<E>(static_cast<std::uint64_t>(a) << b) : E{0}; });
  expect_binary<E, 64>([](auto& d, auto& a, auto& b) { TSHR(d, a, b); },
                       [&](E a, E b) {
                         if (!within(b)) return static_cast<E>(a < E{0} ? -1 : 0);
                         return static_cast<E>(a >> b);
                       });
}

template <typename Element>
class Fill : public ::testing::Test {};
using AllElements =
    ::testing::Types<float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Fill, AllElements);

TYPED_TEST(Fill, TouchesTheValidRegionOnly) {
  const TestCore core;
  VecTile<TypeParam, 4, 32> tile(3, 7);
  TASSIGN(tile, 0);
  TEXPANDS(tile, 5);
  unsigned char before[sizeof(TypeParam)];
  std::memset(before, 0xee, sizeof before);
  for (int row = 0; row < 4; ++row) {
    for (int col = 0; col < 32; ++col) {
      if (row < 3 && col < 7) {
        EXPECT_TRUE(same_bits(element(tile, row, col), static_cast<TypeParam>(5)));
      } else {
        EXPECT_EQ(std::memcmp(&element(tile, row, col), before, sizeof before), 0);
      }
    }
  }
  Tile<TileType::Vec, TypeParam, 32, 2, BLayout::ColMajor, 3, 2> column;
  TASSIGN(column, 0x1000);
  TEXPANDS(column, 1);
  EXPECT_TRUE(same_bits(element(column, 2, 1), static_cast<TypeParam>(1)));
  EXPECT_EQ(std::memcmp(&element(column, 3, 0), before, sizeof before), 0);
}

TEST(Elementwise, TilesMayDifferInTheirColumns) {
  const TestCore core;
  VecTile<float, 4, 64> a(4, 20);
  VecTile<float, 8, 32> b(4, 20);
  VecTile<float, 4, 24> dst(4, 20);
  TASSIGN(a, 0);
  TASSIGN(b, 0x1000);
  TASSIGN(dst, 0x2000);
  Values values(2);
  const auto x = values.moderate_matrix<float>(4, 20);
  const auto y = values.moderate_matrix<float>(4, 20);
  write_valid(a, x);
  write_valid(b, y);
  TADD(dst, a, b);
  Matrix<float> wanted = x;
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 20; ++c) wanted[r][c] += y[r][c];
  }
  EXPECT_TRUE(equal_values(read_valid(dst), wanted));
}

TEST(Elementwise, AwaitsEventsFirst) {
  struct MyEvent {
    int& waits;
    void Wait() { ++waits; }
  };
  const TestCore core;
  int waits = 0;
  MyEvent first{waits};
  MyEvent second{waits};
  Tile<TileType::Vec, float, 1, 8> a, b;
  TASSIGN(a, 0);
  TASSIGN(b, 32);
  [[maybe_unused]] const RecordEvent filled = TEXPANDS(a, 1.0f, first);
  TADD(b, a, a, first, second);
  TADDS(b, b, 1.0f, first);
  TSYNC(first, second);
  Tile<TileType::Vec, half, 1, 16, BLayout::RowMajor, 1, 8> narrow;
  TASSIGN(narrow, 64);
  TCVT(narrow, b, RoundMode::CAST_RINT, first);
  float out[8] = {};
  GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<8, 8, 8, 8, 1>> target(out);
  TSTORE(target, b, second);
  TLOAD(a, target, second);
  EXPECT_EQ(waits, 9);
  EXPECT_EQ(out[7], 3.0f);
  EXPECT_EQ(element(a, 0, 7), 3.0f);
  EXPECT_EQ(static_cast<float>(element(narrow, 0, 7)), 3.0f);
}

}  // namespace
