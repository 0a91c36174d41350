// Gathering, counting, joining: against plain loops over vectors.
#include <cstring>
#include <limits>
#include <utility>

#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "expect_refused.hpp"
#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

template <typename Element>
class Gather : public ::testing::Test {};
using Gathered = ::testing::Types<float, half, bfloat16_t, int16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(Gather, Gathered);

TYPED_TEST(Gather, ByIndex) {
  TestCore core;
  core.watch();
  VecTile<TypeParam, 16, 512> src(1, 64);  // a slice: indices reach beyond it
  VecTile<TypeParam, 4, 32> dst(3, 32);
  VecTile<int32_t, 4, 32> idx(3, 32);
  VecTile<uint32_t, 4, 64> tmp(3, 32);
  TASSIGN(src, 0x4000);
  TASSIGN(dst, 0);
  TASSIGN(idx, 0x1000);
  TASSIGN(tmp, 0x2000);
  Values values(1);
  std::vector<TypeParam> storage(16 * 512);
  for (int i = 0; i < 16 * 512; ++i) src.data()[i] = storage[at(i)] = values.next<TypeParam>();
  Matrix<TypeParam> wanted(3, std::vector<TypeParam>(32));
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 32; ++c) {
      const auto index = static_cast<int32_t>(values.below(16 * 512));
      element(idx, r, c) = index;
      wanted[at(r)][at(c)] = storage[at(index)];
    }
  }
  TGATHER(dst, src, idx, tmp);
  EXPECT_TRUE(equal_values(read_valid(dst), wanted));
  EXPECT_EQ(reinterpret_cast<unsigned char*>(tmp.data())[0], 0xff) << "tmp is not left alone";
  EXPECT_EQ(core.issued()[0].pipes, 1u << PIPE_V);
  element(idx, 1, 7) = -1;
  EXPECT_REFUSED(TGATHER(dst, src, idx, tmp), BATON_KERNEL_OUT_OF_RANGE, "idx(1, 7) is -1");
  element(idx, 1, 7) = static_cast<int32_t>((192 * 1024 - 0x4000) / sizeof(TypeParam));
  EXPECT_REFUSED(TGATHER(dst, src, idx, tmp), BATON_KERNEL_OUT_OF_RANGE, "idx(1, 7)");
  element(idx, 1, 7) -= 1;
  TGATHER(dst, src, idx, tmp);
  VecTile<TypeParam, 4, 32> narrow(3, 31);
  TASSIGN(narrow, 0);
  EXPECT_REFUSED(TGATHER(narrow, src, idx, tmp), BATON_KERNEL_INVALID_ARGUMENT, "valid sizes differ");
}

template <MaskPattern pattern, typename Element, typename To>
void expect_kept(int first, int step) {
  const TestCore core;
  VecTile<Element, 8, 128> src(5, 96);
  VecTile<To, 8, 128> dst(5, 96 / step);
  TASSIGN(src, 0);
  TASSIGN(dst, 0x8000);
  Values values(4);
  const auto x = values.matrix<Element>(5, 96);
  write_valid(src, x);
  TGATHER<decltype(dst), decltype(src), pattern>(dst, src);
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 96 / step; ++c) {
      ASSERT_EQ(std::memcmp(&element(dst, r, c), &x[at(r)][at(first + c * step)], sizeof(Element)), 0);
    }
  }
}

TEST(GatherMask, KeepsColumns) {
  expect_kept<MaskPattern::P0101, float, float>(0, 2);
  expect_kept<MaskPattern::P1010, float, int32_t>(1, 2);
  expect_kept<MaskPattern::P0001, half, half>(0, 4);
  expect_kept<MaskPattern::P0010, half, int16_t>(1, 4);
  expect_kept<MaskPattern::P0100, int32_t, int32_t>(2, 4);
  expect_kept<MaskPattern::P1000, uint16_t, half>(3, 4);
  expect_kept<MaskPattern::P1111, uint32_t, float>(0, 1);
}

template <typename Element, int descending>
void expect_counted(Element start) {
  TestCore core;
  core.watch();
  using Row = Tile<TileType::Vec, Element, 1, 64, BLayout::RowMajor, 1, DYNAMIC>;
  Row dst(50), tmp(50);
  TASSIGN(dst, 0);
  TASSIGN(tmp, 0x200);
  TCI<Row, Element, descending>(dst, start);
  EXPECT_EQ(core.issued().back().pipes, 1u << PIPE_S);
  const auto check = [&] {
    for (int k = 0; k < 50; ++k) {
      const auto wanted = static_cast<Element>(static_cast<std::int64_t>(start) + (descending != 0 ? -k : k));
      ASSERT_EQ(element(dst, 0, k), wanted) << k;
    }
  };
  check();
  TEXPANDS(dst, 0);
  TCI<Row, Row, Element, descending>(dst, start, tmp);
  EXPECT_EQ(core.issued().back().pipes, 1u << PIPE_V);
  check();
}

TEST(Count, UpAndDown) {
  expect_counted<int32_t, 0>(-5);
  expect_counted<int32_t, 1>(std::numeric_limits<int32_t>::min() + 3);
  expect_counted<uint32_t, 1>(7);
  expect_counted<int16_t, 0>(32760);
  expect_counted<uint16_t, 0>(0);
}

TEST(ConcatInPlace, JoinsRows) {
  for (const int place : {0, 1, 2}) {  // apart, on a, on b
    const TestCore core;
    VecTile<float, 8, 64> a(5, 20), dst(5, 50);
    VecTile<float, 8, 64> b(5, 30);
    TASSIGN(a, 0);
    TASSIGN(b, 0x1000);
    TASSIGN(dst, place == 0 ? 0x2000 : place == 1 ? 0 : 0x1000);
    Values values(2);
    const auto x = values.matrix<float>(5, 20);
    const auto y = values.matrix<float>(5, 30);
    write_valid(a, x);
    write_valid(b, y);
    TCONCAT(dst, a, b);
    auto wanted = x;
    for (std::size_t r = 0; r < 5; ++r) wanted[r].insert(wanted[r].end(), y[r].begin(), y[r].end());
    EXPECT_TRUE(equal_values(read_valid(dst), wanted));
    VecTile<float, 8, 40> narrow(5, 40);
    TASSIGN(narrow, 0x4000);
    EXPECT_REFUSED(TCONCAT(narrow, a, b), BATON_KERNEL_OUT_OF_RANGE, "5 x 50 elements do not fit");
  }
}

template <typename Element>
class Concat : public ::testing::Test {};
using Joined = ::testing::Types<half, bfloat16_t, int8_t, uint16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Concat, Joined);

TYPED_TEST(Concat, SlicesAndEmptySides) {
  for (const auto& [left, right] : {std::pair{7, 9}, std::pair{0, 16}, std::pair{16, 0}, std::pair{1, 32}}) {
    const TestCore core;
    VecTile<TypeParam, 4, 128> a(3, left), b(3, right);  // parts of wider rows
    VecTile<TypeParam, 4, 64> dst(3, left + right);
    TASSIGN(a, 0x100);
    TASSIGN(b, 0x4000);
    TASSIGN(dst, 0x8000);
    Values values(3);
    const auto x = values.matrix<TypeParam>(3, left);
    const auto y = values.matrix<TypeParam>(3, right);
    write_valid(a, x);
    write_valid(b, y);
    const auto untouched = values.next<TypeParam>();
    for (int r = 0; r < 3; ++r) dst.data()[r * 64 + left + right] = untouched;
    TCONCAT(dst, a, b);
    auto wanted = x;
    for (std::size_t r = 0; r < 3; ++r) wanted[r].insert(wanted[r].end(), y[r].begin(), y[r].end());
    EXPECT_TRUE(equal_values(read_valid(dst), wanted)) << left << " and " << right;
    for (int r = 0; r < 3; ++r) {
      EXPECT_EQ(std::memcmp(dst.data() + r * 64 + left + right, &untouched, sizeof untouched), 0) << "behind row " << r;
    }
  }
}

}  // namespace
