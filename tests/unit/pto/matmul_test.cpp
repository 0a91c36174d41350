// TMATMUL and its forms against sums in double.
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

template <typename Element>
Matrix<Element> factors(int rows, int cols, std::uint32_t seed) {
  Values values(seed);
  auto result = values.matrix<Element>(rows, cols);
  for (auto& row : result) {
    for (auto& value : row) {
      if constexpr (std::is_integral_v<Element>) {
        value = static_cast<Element>(static_cast<int>(values.below(256)) - 128);
      } else {
        value = static_cast<Element>((static_cast<float>(values.below(2001)) - 1000.0f) / 512.0f);
      }
    }
  }
  return result;
}

template <typename Left, typename Right, typename Acc, typename Element>
void expect_product(Left& left, Right& right, Acc& acc, const Matrix<Element>& a, const Matrix<Element>& b,
                    const std::vector<std::vector<double>>& start) {
  for (int r = 0; r < acc.GetValidRow(); ++r) {
    for (int c = 0; c < acc.GetValidCol(); ++c) {
      double sum = start[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
      double magnitude = std::fabs(sum);
      for (int k = 0; k < left.GetValidCol(); ++k) {
        const double term = static_cast<double>(a[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)]) *
                            static_cast<double>(b[static_cast<std::size_t>(k)][static_cast<std::size_t>(c)]);
        sum += term;
        magnitude += std::fabs(term);
      }
      const double got = static_cast<double>(element(acc, r, c));
      if constexpr (std::is_integral_v<Element>) {
        ASSERT_EQ(got, sum);
      } else {
        ASSERT_NEAR(got, sum, magnitude * 0x1p-20) << r << ", " << c;
      }
    }
  }
  ASSERT_EQ(right.GetValidCol(), acc.GetValidCol());
}

template <typename Element>
class Product : public ::testing::Test {};
using ProductElements = ::testing::Types<float, half, bfloat16_t, int8_t>;
TYPED_TEST_SUITE(Product, ProductElements);

template <typename Element, int M, int K, int N>
void expect_products(int m, int k, int n) {
  using Sum = std::conditional_t<std::is_same_v<Element, int8_t>, int32_t, float>;
  const TestCore core;
  TileLeft<Element, M, K, DYNAMIC, DYNAMIC> left(m, k);
  TileRight<Element, K, N, DYNAMIC, DYNAMIC> right(k, n);
  TileAcc<Sum, M, N, DYNAMIC, DYNAMIC> acc(m, n);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  const auto a = factors<Element>(m, k, 1);
  const auto b = factors<Element>(k, n, 2);
  write_valid(left, a);
  write_valid(right, b);
  std::vector<std::vector<double>> start(static_cast<std::size_t>(m), std::vector<double>(static_cast<std::size_t>(n)));
  TMATMUL(acc, left, right);
  expect_product(left, right, acc, a, b, start);
  const auto keep = [&](auto& tile) {
    for (int r = 0; r < m; ++r) {
      for (int c = 0; c < n; ++c) {
        start[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] = static_cast<double>(element(tile, r, c));
      }
    }
  };
  keep(acc);
  TMATMUL_ACC(acc, left, right);
  expect_product(left, right, acc, a, b, start);
  TileAcc<Sum, M, N, DYNAMIC, DYNAMIC> out(m, n);
  TASSIGN(out, 0x10000);
  keep(acc);
  TMATMUL_ACC(out, acc, left, right);
  expect_product(left, right, out, a, b, start);
  Tile<TileType::Bias, Sum, 1, N, BLayout::RowMajor, 1, DYNAMIC> bias(n);
  TASSIGN(bias, 0);
  for (int c = 0; c < n; ++c) element(bias, 0, c) = static_cast<Sum>(c - 3);
  for (auto& row : start) {
    for (int c = 0; c < n; ++c) row[static_cast<std::size_t>(c)] = c - 3;
  }
  TMATMUL_BIAS(acc, left, right, bias);
  expect_product(left, right, acc, a, b, start);
}

TYPED_TEST(Product, OfAnySize) {
  expect_products<TypeParam, 16, 32, 32>(1, 1, 1);
  expect_products<TypeParam, 16, 32, 32>(16, 32, 32);
  expect_products<TypeParam, 16, 32, 32>(13, 31, 29);
  expect_products<TypeParam, 64, 64, 64>(64, 64, 64);
  expect_products<TypeParam, 64, 224, 64>(61, 201, 50);
  expect_products<TypeParam, 16, 1024, 16>(5, 1000, 16);
  expect_products<TypeParam, 128, 96, 64>(127, 95, 33);
}

TEST(MatrixPipe, RunsProducts) {
  TestCore core;
  core.watch();
  TileLeft<float, 16, 16> left;
  TileRight<float, 16, 16> right;
  TileAcc<float, 16, 16> acc;
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  TMATMUL(acc, left, right);
  ASSERT_EQ(core.issued().size(), 1u);
  EXPECT_EQ(core.issued()[0].pipes, 1u << PIPE_M);
  ASSERT_EQ(core.issued()[0].tiles.size(), 3u);
  EXPECT_EQ(core.issued()[0].tiles[2].access, BATON_WRITES);
}

}  // namespace
