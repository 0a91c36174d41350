// Reductions and expansions.
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

/// Small whole numbers: sums and products in any order are exact in every type.
template <typename Element>
Matrix<Element> small_numbers(int rows, int cols, std::uint32_t seed, int range = 5) {
  Values values(seed);
  auto result = values.matrix<Element>(rows, cols);
  for (auto& row : result) {
    for (auto& value : row)
      value = static_cast<Element>(static_cast<int>(values.below(static_cast<unsigned>(range))) - 2);
  }
  return result;
}

template <typename Element>
class Reduce : public ::testing::Test {};
using Numbers = ::testing::Types<half, float, int16_t, int32_t>;
TYPED_TEST_SUITE(Reduce, Numbers);

template <typename Element, typename Expected>
Element fold(const std::vector<Element>& row, Expected expected) {
  Element result = row[0];
  for (std::size_t i = 1; i < row.size(); ++i) result = static_cast<Element>(expected(result, row[i]));
  return result;
}

template <typename Element, typename Instruction, typename Expected>
void expect_row_reduction(Instruction instruction, Expected expected) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {7, 64}, {16, 33}, {5, 31}, {16, 64}}) {
    TestCore core;
    VecTile<Element, 16, 64> src(rows, cols), tmp(rows, cols);
    Tile<TileType::Vec, Element, 16, 16, BLayout::RowMajor, DYNAMIC, 1> dst(rows);
    Tile<TileType::Vec, Element, 16, 1, BLayout::ColMajor, DYNAMIC, 1> column(rows);
    TASSIGN(src, 0);
    TASSIGN(tmp, 0x4000);
    TASSIGN(dst, 0x8000);
    TASSIGN(column, 0xc000);
    const auto x = small_numbers<Element>(rows, cols, 3);
    write_valid(src, x);
    instruction(dst, src, tmp);
    instruction(column, src, tmp);
    for (int r = 0; r < rows; ++r) {
      const Element wanted = fold(x[static_cast<std::size_t>(r)], expected);
      ASSERT_TRUE(same_value(element(dst, r, 0), wanted)) << rows << " x " << cols << " row " << r;
      ASSERT_TRUE(same_value(element(column, r, 0), wanted));
    }
    EXPECT_EQ(reinterpret_cast<unsigned char*>(tmp.data())[0], 0xff) << "tmp is not left alone";
  }
}

TYPED_TEST(Reduce, Rows) {
  using E = TypeParam;
  expect_row_reduction<E>([](auto& d, auto& s, auto& t) { TROWSUM(d, s, t); }, [](E a, E b) { return a + b; });
  expect_row_reduction<E>([](auto& d, auto& s, auto& t) { TROWMAX(d, s, t); }, [](E a, E b) { return a > b ? a : b; });
  expect_row_reduction<E>([](auto& d, auto& s, auto& t) { TROWMIN(d, s, t); }, [](E a, E b) { return a < b ? a : b; });
}

TYPED_TEST(Reduce, RowProducts) {
  const TestCore core;
  VecTile<TypeParam, 4, 32> src(4, 6), tmp(4, 6);
  Tile<TileType::Vec, TypeParam, 4, 16, BLayout::RowMajor, 4, 1> dst;
  TASSIGN(src, 0);
  TASSIGN(tmp, 0x4000);
  TASSIGN(dst, 0x8000);
  const auto x = small_numbers<TypeParam>(4, 6, 8, 6);
  write_valid(src, x);
  TROWPROD(dst, src, tmp);
  for (int r = 0; r < 4; ++r) {
    const TypeParam wanted = fold(x[static_cast<std::size_t>(r)], [](TypeParam a, TypeParam b) { return a * b; });
    EXPECT_EQ(static_cast<float>(element(dst, r, 0)), static_cast<float>(wanted));
  }
}

template <typename Element, typename Instruction, typename Expected>
void expect_col_reduction(Instruction instruction, Expected expected) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {7, 64}, {16, 33}, {3, 31}}) {
    const TestCore core;
    VecTile<Element, 16, 64> src(rows, cols);
    VecTile<Element, 1, 64> dst(1, cols);
    TASSIGN(src, 0);
    TASSIGN(dst, 0x8000);
    const auto x = small_numbers<Element>(rows, cols, 4);
    write_valid(src, x);
    instruction(dst, src);
    for (int c = 0; c < cols; ++c) {
      std::vector<Element> column;
      for (const auto& row : x) column.push_back(row[static_cast<std::size_t>(c)]);
      ASSERT_TRUE(same_value(element(dst, 0, c), fold(column, expected))) << rows << " x " << cols << " column " << c;
    }
  }
}

TYPED_TEST(Reduce, Columns) {
  using E = TypeParam;
  expect_col_reduction<E>([](auto& d, auto& s) { TCOLSUM(d, s); }, [](E a, E b) { return a + b; });
  expect_col_reduction<E>(
      [](auto& d, auto& s) {
        VecTile<E, 16, 64> tmp(1, 1);
        TASSIGN(tmp, 0x10000);
        TCOLSUM(d, s, tmp, true);
        EXPECT_EQ(reinterpret_cast<unsigned char*>(tmp.data())[0], 0xff);
      },
      [](E a, E b) { return a + b; });
  expect_col_reduction<E>([](auto& d, auto& s) { TCOLMAX(d, s); }, [](E a, E b) { return a > b ? a : b; });
  expect_col_reduction<E>([](auto& d, auto& s) { TCOLMIN(d, s); }, [](E a, E b) { return a < b ? a : b; });
  expect_col_reduction<E>([](auto& d, auto& s) { TCOLPROD(d, s); }, [](E a, E b) { return static_cast<E>(a * b); });
}

TYPED_TEST(Reduce, SumsOfIntegersWrap) {
  if constexpr (std::is_integral_v<TypeParam>) {
    const TestCore core;
    VecTile<TypeParam, 1, 64> src(1, 50), tmp(1, 50);
    Tile<TileType::Vec, TypeParam, 1, 16, BLayout::RowMajor, 1, 1> dst;
    TASSIGN(src, 0);
    TASSIGN(tmp, 0x1000);
    TASSIGN(dst, 0x2000);
    TEXPANDS(src, std::numeric_limits<TypeParam>::max());
    TROWSUM(dst, src, tmp);
    const auto wanted = static_cast<TypeParam>(50 * static_cast<std::uint64_t>(std::numeric_limits<TypeParam>::max()));
    EXPECT_EQ(element(dst, 0, 0), wanted);
  }
}

TEST(ReduceFloat, FewRoundingsSuffice) {
  const TestCore core;
  VecTile<float, 1, 4096> src(1, 4096), tmp(1, 4096);
  Tile<TileType::Vec, float, 1, 8, BLayout::RowMajor, 1, 1> dst;
  TASSIGN(src, 0);
  TASSIGN(tmp, 0x8000);
  TASSIGN(dst, 0x10000);
  Values values(1);
  const auto x = values.moderate_matrix<float>(1, 4096);
  write_valid(src, x);
  TROWSUM(dst, src, tmp);
  double sum = 0;
  double magnitude = 0;
  for (const float value : x[0]) {
    sum += value;
    magnitude += std::fabs(value);
  }
  EXPECT_NEAR(element(dst, 0, 0), sum, magnitude * 0x1p-20);
  TROWMAX(dst, src, tmp);
  EXPECT_EQ(element(dst, 0, 0), *std::max_element(x[0].begin(), x[0].end()));
}

template <typename Element, typename Instruction, typename Expected>
void expect_expansion(Instruction instruction, Expected expected) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {7, 64}, {8, 33}}) {
    for (const bool in_place : {false, true}) {
      const TestCore core;
      VecTile<Element, 8, 64> src(rows, cols), dst(rows, cols);
      VecTile<Element, 1, 64> row(1, cols);
      Tile<TileType::Vec, Element, 16, 1, BLayout::ColMajor, DYNAMIC, 1> column(rows);
      TASSIGN(src, 0);
      TASSIGN(dst, in_place ? 0 : 0x2000);
      TASSIGN(row, 0x4000);
      TASSIGN(column, 0x6000);
      const auto x = small_numbers<Element>(rows, cols, 5);
      auto across = small_numbers<Element>(1, cols, 6);
      auto down = small_numbers<Element>(rows, 1, 7);
      for (auto& value : across[0]) value = static_cast<Element>(value + 3);
      for (auto& value : down) value[0] = static_cast<Element>(value[0] + 3);
      write_valid(src, x);
      write_valid(row, across);
      write_valid(column, down);
      instruction(dst, src, column, row);
      Matrix<Element> wanted = x;
      for (std::size_t r = 0; r < x.size(); ++r) {
        for (std::size_t c = 0; c < x[r].size(); ++c) {
          wanted[r][c] = static_cast<Element>(expected(x[r][c], down[r][0], across[0][c]));
        }
      }
      ASSERT_TRUE(equal_values(read_valid(dst), wanted)) << rows << " x " << cols;
    }
  }
}

TYPED_TEST(Reduce, Expansions) {
  using E = TypeParam;
  expect_expansion<E>([](auto& d, auto&, auto& v, auto&) { TROWEXPAND(d, v); }, [](E, E v, E) { return v; });
  expect_expansion<E>([](auto& d, auto&, auto&, auto& v) { TCOLEXPAND(d, v); }, [](E, E, E v) { return v; });
  expect_expansion<E>([](auto& d, auto& a, auto& v, auto&) { TROWEXPANDADD(d, a, v); },
                      [](E a, E v, E) { return a + v; });
  expect_expansion<E>([](auto& d, auto& a, auto& v, auto&) { TROWEXPANDSUB(d, a, v); },
                      [](E a, E v, E) { return a - v; });
  expect_expansion<E>([](auto& d, auto& a, auto& v, auto&) { TROWEXPANDMUL(d, a, v); },
                      [](E a, E v, E) { return a * v; });
  expect_expansion<E>([](auto& d, auto& a, auto& v, auto&) { TROWEXPANDMAX(d, a, v); },
                      [](E a, E v, E) { return a > v ? a : v; });
  expect_expansion<E>([](auto& d, auto& a, auto& v, auto&) { TROWEXPANDMIN(d, a, v); },
                      [](E a, E v, E) { return a < v ? a : v; });
  expect_expansion<E>([](auto& d, auto& a, auto&, auto& v) { TCOLEXPANDADD(d, a, v); },
                      [](E a, E, E v) { return a + v; });
  expect_expansion<E>([](auto& d, auto& a, auto&, auto& v) { TCOLEXPANDSUB(d, a, v); },
                      [](E a, E, E v) { return a - v; });
  expect_expansion<E>([](auto& d, auto& a, auto&, auto& v) { TCOLEXPANDMUL(d, a, v); },
                      [](E a, E, E v) { return a * v; });
  expect_expansion<E>([](auto& d, auto& a, auto&, auto& v) { TCOLEXPANDMAX(d, a, v); },
                      [](E a, E, E v) { return a > v ? a : v; });
  expect_expansion<E>([](auto& d, auto& a, auto&, auto& v) { TCOLEXPANDMIN(d, a, v); },
                      [](E a, E, E v) { return a < v ? a : v; });
  expect_expansion<E>(
      [](auto& d, auto& a, auto& v, auto&) {
        VecTile<E, 8, 64> tmp(8, 64);
        TASSIGN(tmp, 0x8000);
        TROWEXPANDMUL(d, a, v, tmp);
        EXPECT_EQ(reinterpret_cast<unsigned char*>(tmp.data())[0], 0xff);
      },
      [](E a, E v, E) { return a * v; });
  if constexpr (!std::is_integral_v<E>) {
    expect_expansion<E>([](auto& d, auto& a, auto& v, auto&) { TROWEXPANDDIV(d, a, v); },
                        [](E a, E v, E) { return a / v; });
    expect_expansion<E>([](auto& d, auto& a, auto&, auto& v) { TCOLEXPANDDIV(d, a, v); },
                        [](E a, E, E v) { return a / v; });
  }
}

/// The vector as a column, as blocks of 32 bytes, and as either operand.
template <typename Element, typename Instruction, typename Expected>
void expect_either_operand(Instruction instruction, Expected expected) {
  constexpr int block = 32 / static_cast<int>(sizeof(Element));
  for (const auto& size : {std::pair{1, 1}, {7, 64}, {8, 33}, {8, block}, {0, 0}}) {
    const int rows = size.first;
    const int cols = size.second;
    const TestCore core;
    VecTile<Element, 8, 64> full(rows, cols), dst(rows, cols);
    VecTile<Element, 8, block> blocks(rows, rows == 0 ? 0 : block);
    Tile<TileType::Vec, Element, 16, 1, BLayout::ColMajor, DYNAMIC, 1> column(rows);
    TASSIGN(full, 0);
    TASSIGN(dst, 0x2000);
    TASSIGN(blocks, 0x4000);
    TASSIGN(column, 0x6000);
    const auto x = small_numbers<Element>(rows, cols, 5);
    const auto v = small_numbers<Element>(rows, block, 6, 3);
    write_valid(full, x);
    write_valid(blocks, v);
    for (int r = 0; r < rows; ++r) element(column, r, 0) = v[static_cast<std::size_t>(r)][0];
    const auto check = [&](int kind, bool swapped) {
      for (std::size_t r = 0; r < x.size(); ++r) {
        for (std::size_t c = 0; c < x[r].size(); ++c) {
          const Element a = x[r][c];
          const Element b = v[r][kind == 0 ? 0 : c % static_cast<std::size_t>(block)];
          const auto wanted = static_cast<Element>(swapped ? expected(b, a) : expected(a, b));
          ASSERT_TRUE(same_value(element(dst, static_cast<int>(r), static_cast<int>(c)), wanted))
              << rows << " x " << cols << " at " << r << ", " << c << (swapped ? " swapped" : "");
        }
      }
    };
    instruction(dst, full, column);
    check(0, false);
    instruction(dst, column, full);
    check(0, true);
    instruction(dst, full, blocks);
    check(1, false);
    if (cols != block) {
      instruction(dst, blocks, full);
      check(1, true);
    }
  }
}

TYPED_TEST(Reduce, EitherOperandIsExpanded) {
  using E = TypeParam;
  expect_either_operand<E>([](auto& d, auto& a, auto& b) { TROWEXPANDADD(d, a, b); }, [](E a, E b) { return a + b; });
  expect_either_operand<E>([](auto& d, auto& a, auto& b) { TROWEXPANDSUB(d, a, b); }, [](E a, E b) { return a - b; });
  expect_either_operand<E>([](auto& d, auto& a, auto& b) { TROWEXPANDMUL(d, a, b); }, [](E a, E b) { return a * b; });
  expect_either_operand<E>([](auto& d, auto& a, auto& b) { TROWEXPANDMAX(d, a, b); },
                           [](E a, E b) { return a > b ? a : b; });
  expect_either_operand<E>([](auto& d, auto& a, auto& b) { TROWEXPANDMIN(d, a, b); },
                           [](E a, E b) { return a < b ? a : b; });
  if constexpr (!std::is_integral_v<E>) {
    expect_either_operand<E>([](auto& d, auto& a, auto& b) { TROWEXPANDDIV(d, a, b); }, [](E a, E b) { return a / b; });
  }
  const TestCore core;
  VecTile<E, 8, 64> full(8, 64), odd(8, 5);
  TASSIGN(full, 0);
  TASSIGN(odd, 0x2000);
  EXPECT_THROW(TROWEXPANDADD(full, full, odd), KernelFailure);
}

template <typename Element>
void expect_exponentials() {
  const TestCore core;
  VecTile<Element, 8, 64> src(7, 50);
  VecTile<Element, 1, 64> row(1, 50);
  TASSIGN(src, 0);
  TASSIGN(row, 0x4000);
  Values values(3);
  const auto x = values.moderate_matrix<Element>(7, 50);
  const auto v = values.moderate_matrix<Element>(1, 50);
  write_valid(src, x);
  write_valid(row, v);
  TCOLEXPANDEXPDIF(src, src, row);
  for (int r = 0; r < 7; ++r) {
    for (int c = 0; c < 50; ++c) {
      const float difference = static_cast<float>(x[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]) -
                               static_cast<float>(v[0][static_cast<std::size_t>(c)]);
      const double wanted = std::exp(static_cast<double>(difference));
      const double got = static_cast<float>(element(src, r, c));
      if (std::is_same_v<Element, half> && (wanted > 65000 || wanted < 7e-5)) continue;
      ASSERT_NEAR(got, wanted, wanted * (std::is_same_v<Element, half> ? 0x1p-10 : 0x1p-20)) << r << ", " << c;
    }
  }
}

TEST(Expand, ExponentialOfADifference) {
  expect_exponentials<float>();
  expect_exponentials<half>();
}

}  // namespace
