// Gathering, padding, sorting, counting, joining, scattering: against plain loops over vectors.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;
using ::testing::HasSubstr;

#define EXPECT_REFUSED(STATEMENT, CODE, TEXT)     \
  try {                                           \
    STATEMENT;                                    \
    ADD_FAILURE() << "nothing happened";          \
  } catch (const KernelFailure& failure) {        \
    EXPECT_EQ(failure.code, CODE);                \
    EXPECT_THAT(failure.what(), HasSubstr(TEXT)); \
    EXPECT_GT(failure.line, 0u);                  \
  }

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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

template <typename Element>
class Pad : public ::testing::Test {};
using Padded = ::testing::Types<float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(Pad, Padded);

template <PadValue pad, typename Element, int Rows, int Cols>
using PaddedTile =
    Tile<TileType::Vec, Element, Rows, Cols, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::NoneBox, 512, pad>;

template <PadValue pad, typename Element>
void expect_padded(Element value) {
  for (const auto& size : {std::pair{8, 32}, {5, 7}, {1, 1}, {0, 0}}) {
    const int rows = size.first;
    const int cols = size.second;
    for (const int way : {0, 1, 2}) {
      const TestCore core;
      VecTile<Element, 8, 32> src(rows, cols);
      PaddedTile<pad, Element, 8, 32> dst(rows == 0 ? 0 : 7, rows == 0 ? 0 : 20);
      PaddedTile<pad, Element, 16, 64> large(15, 50);
      VecTile<Element, 16, 64> whole(16, 64);
      TASSIGN(src, 0x2000);
      TASSIGN(dst, way == 1 ? 0x2000 : 0x8000);
      TASSIGN(large, 0x10000);
      TASSIGN(whole, way == 1 ? 0x2000 : way == 2 ? 0x10000 : 0x8000);
      Values values(3);
      const auto x = values.matrix<Element>(rows, cols);
      write_valid(src, x);
      if (way == 0) TFILLPAD(dst, src);
      if (way == 1) TFILLPAD_INPLACE(dst, src);
      if (way == 2) TFILLPAD_EXPAND(large, src);
      const auto check = [&](auto& tile) {
        for (int r = 0; r < tile.GetValidRow(); ++r) {
          for (int c = 0; c < tile.GetValidCol(); ++c) {
            const Element wanted = r < rows && c < cols ? x[at(r)][at(c)] : value;
            ASSERT_TRUE(same_bits(element(tile, r, c), wanted)) << r << ", " << c;
          }
        }
      };
      if (way == 2) {
        check(large);
      } else {
        check(dst);
        // Beyond dst's valid region nothing is filled.
        if (way == 0) {
          EXPECT_EQ(reinterpret_cast<unsigned char*>(&element(dst, 7, 20))[0], 0xee);
        }
      }
    }
  }
}

TYPED_TEST(Pad, WithEveryValue) {
  using E = TypeParam;
  expect_padded<PadValue::Zero, E>(E(0));
  if constexpr (std::is_integral_v<E>) {
    expect_padded<PadValue::Min, E>(std::numeric_limits<E>::min());
    expect_padded<PadValue::Max, E>(std::numeric_limits<E>::max());
  } else {
    expect_padded<PadValue::Min, E>(E(-INFINITY));
    expect_padded<PadValue::Max, E>(E(INFINITY));
  }
}

TEST(PadInPlace, LiesOnItsSource) {
  const TestCore core;
  VecTile<float, 8, 32> src(1, 1);
  PaddedTile<PadValue::Zero, float, 8, 32> dst(2, 2);
  TASSIGN(src, 0);
  TASSIGN(dst, 32);
  EXPECT_REFUSED(TFILLPAD_INPLACE(dst, src), BATON_KERNEL_INVALID_ARGUMENT, "different places");
}

template <typename Element>
struct Pair {
  Element value;
  uint32_t index;
};

/// Pairs as they lie in a tile.
template <typename Element>
std::vector<Pair<Element>> pairs_at(const void* first, std::size_t count) {
  std::vector<Pair<Element>> pairs(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&pairs[i].value, static_cast<const unsigned char*>(first) + 8 * i, sizeof(Element));
    std::memcpy(&pairs[i].index, static_cast<const unsigned char*>(first) + 8 * i + 4, 4);
  }
  return pairs;
}

template <typename Element>
void put_pairs(void* first, const std::vector<Pair<Element>>& pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto* pair = static_cast<unsigned char*>(first) + 8 * i;
    std::memset(pair, 0, 8);
    std::memcpy(pair, &pairs[i].value, sizeof(Element));
    std::memcpy(pair + 4, &pairs[i].index, 4);
  }
}

template <typename Element>
bool is_larger(const Pair<Element>& a, const Pair<Element>& b) {
  return static_cast<float>(a.value) > static_cast<float>(b.value);
}

template <typename Element>
void expect_pairs(const std::vector<Pair<Element>>& got, const std::vector<Pair<Element>>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(same_bits(got[i].value, wanted[i].value))
        << i << ": " << static_cast<float>(got[i].value) << " is not " << static_cast<float>(wanted[i].value);
    ASSERT_EQ(got[i].index, wanted[i].index) << i;
  }
}

/// Few values, so that many are equal, and both infinities.
template <typename Element>
Element crowded(Values& values) {
  const auto n = static_cast<int>(values.below(30));
  return static_cast<Element>(n == 0 ? INFINITY : n == 1 ? -INFINITY : n == 2 ? -0.0f : static_cast<float>(n - 15) / 4);
}

template <typename Element>
class Sort : public ::testing::Test {};
using Sorted = ::testing::Types<float, half>;
TYPED_TEST_SUITE(Sort, Sorted);

TYPED_TEST(Sort, BlocksOf32) {
  using E = TypeParam;
  constexpr int wide = 8 / static_cast<int>(sizeof(E));
  for (const auto& [rows, cols] : {std::pair{1, 32}, {3, 128}, {2, 100}, {1, 1}, {0, 0}}) {
    TestCore core;
    core.watch();
    VecTile<E, 4, 128> src(rows, cols), tmp(4, 128);
    VecTile<uint32_t, 4, 128> idx(rows, cols);
    VecTile<E, 4, 128 * wide> dst(1, 1);
    TASSIGN(src, 0);
    TASSIGN(idx, 0x2000);
    TASSIGN(dst, 0x4000);
    TASSIGN(tmp, 0x10000);
    Values values(7);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        element(src, r, c) = crowded<E>(values);
        element(idx, r, c) = values.below(1u << 31);
      }
    }
    if (cols % 32 == 0) {
      TSORT32(dst, src, idx);
    } else {
      EXPECT_REFUSED(TSORT32(dst, src, idx), BATON_KERNEL_INVALID_ARGUMENT, "multiple of 32");
      TSORT32(dst, src, idx, tmp);
    }
    EXPECT_EQ(core.issued().back().pipes, 1u << PIPE_V);
    for (int r = 0; r < rows; ++r) {
      for (int first = 0; first < cols; first += 32) {
        std::vector<Pair<E>> wanted;
        for (int c = first; c < first + 32; ++c) {
          if (c < cols) wanted.push_back({element(src, r, c), element(idx, r, c)});
        }
        std::stable_sort(wanted.begin(), wanted.end(), is_larger<E>);
        while (wanted.size() < 32) wanted.push_back({static_cast<E>(-INFINITY), 0});
        expect_pairs(pairs_at<E>(&element(dst, r, first * wide), 32), wanted);
      }
    }
  }
}

template <typename Element>
std::vector<Pair<Element>> sorted_run(std::size_t count, Values& values) {
  std::vector<Pair<Element>> run(count);
  for (auto& pair : run) pair = {crowded<Element>(values), values.below(1000)};
  std::stable_sort(run.begin(), run.end(), is_larger<Element>);
  return run;
}

TYPED_TEST(Sort, FourRunsBecomeOne) {
  using E = TypeParam;
  constexpr int wide = 8 / static_cast<int>(sizeof(E));
  for (const int len : {64, 128, 256}) {
    for (const int groups : {1, 3}) {
      const TestCore core;
      VecTile<E, 1, 4096> src(1, groups * 4 * len), dst(1, groups * 4 * len);
      TASSIGN(src, 0);
      TASSIGN(dst, 0x10000);
      Values values(5);
      std::vector<Pair<E>> wanted;
      auto* next = reinterpret_cast<unsigned char*>(src.data());
      for (int g = 0; g < groups; ++g) {
        std::vector<Pair<E>> all;
        for (int i = 0; i < 4; ++i) {
          const auto run = sorted_run<E>(at(len / wide), values);
          put_pairs(next, run);
          next += 8 * run.size();
          all.insert(all.end(), run.begin(), run.end());
        }
        std::stable_sort(all.begin(), all.end(), is_larger<E>);
        wanted.insert(wanted.end(), all.begin(), all.end());
      }
      TMRGSORT(dst, src, static_cast<uint32_t>(len));
      expect_pairs(pairs_at<E>(dst.data(), wanted.size()), wanted);
      EXPECT_REFUSED(TMRGSORT(dst, src, 63), BATON_KERNEL_INVALID_ARGUMENT, "multiple of 64");
      EXPECT_REFUSED(TMRGSORT(src, src, static_cast<uint32_t>(len)), BATON_KERNEL_INVALID_ARGUMENT, "overlap");
    }
  }
}

TYPED_TEST(Sort, ListsOfAnyLengths) {
  using E = TypeParam;
  constexpr int wide = 8 / static_cast<int>(sizeof(E));
  using List = VecTile<E, 1, 1024>;
  for (const std::vector<int>& lengths : {std::vector{3, 60}, {32, 32, 32}, {1, 90, 7, 30}, {5, 5, 0, 64}}) {
    for (const int room : {1000, 20}) {
      const TestCore core;
      Values values(8);
      const int total = std::accumulate(lengths.begin(), lengths.end(), 0);
      const int most = std::min(total, room);
      List dst(1, most * wide), tmp(1, total * wide);
      TASSIGN(dst, 0);
      TASSIGN(tmp, 0x2000);
      std::vector<List> lists;
      std::vector<Pair<E>> wanted;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        lists.emplace_back(1, lengths[i] * wide);
        TASSIGN(lists[i], 0x4000 + 0x1000 * i);
        const auto run = sorted_run<E>(at(lengths[i]), values);
        put_pairs(lists[i].data(), run);
        wanted.insert(wanted.end(), run.begin(), run.end());
      }
      std::stable_sort(wanted.begin(), wanted.end(), is_larger<E>);
      wanted.resize(at(most));
      MrgSortExecutedNumList taken{};
      if (lists.size() == 2) TMRGSORT<List, List, List, List, false>(dst, taken, tmp, lists[0], lists[1]);
      if (lists.size() == 3) {
        TMRGSORT<List, List, List, List, List, false>(dst, taken, tmp, lists[0], lists[1], lists[2]);
      }
      if (lists.size() == 4) {
        TMRGSORT<List, List, List, List, List, List, false>(dst, taken, tmp, lists[0], lists[1], lists[2], lists[3]);
      }
      expect_pairs(pairs_at<E>(dst.data(), wanted.size()), wanted);
      EXPECT_EQ(taken.mrgSortList0 + taken.mrgSortList1 + taken.mrgSortList2 + taken.mrgSortList3, most);
    }
  }
}

TEST(SortLists, StopWhenOneEnds) {
  const TestCore core;
  using List = VecTile<float, 1, 64>;
  List dst(1, 16), tmp(1, 16), a(1, 8), b(1, 8);
  TASSIGN(dst, 0);
  TASSIGN(tmp, 0x400);
  TASSIGN(a, 0x800);
  TASSIGN(b, 0xc00);
  put_pairs<float>(a.data(), {{9, 1}, {7, 2}, {5, 3}, {3, 4}});
  put_pairs<float>(b.data(), {{8, 5}, {6, 6}, {5, 7}, {4, 8}});
  MrgSortExecutedNumList taken{};
  TMRGSORT<List, List, List, List, true>(dst, taken, tmp, a, b);
  EXPECT_EQ(taken.mrgSortList0, 3);
  EXPECT_EQ(taken.mrgSortList1, 4);
  const auto got = pairs_at<float>(dst.data(), 7);
  EXPECT_EQ(got[4].index, 3u) << "equal values: the lower list first";
  EXPECT_EQ(got[5].index, 7u);
  EXPECT_EQ(got[6].index, 8u);
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

TEST(Concat, JoinsRows) {
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
class Scatter : public ::testing::Test {};
using Scattered = ::testing::Types<float, half, bfloat16_t, int8_t, int32_t>;
TYPED_TEST_SUITE(Scatter, Scattered);

TYPED_TEST(Scatter, Elements) {
  using E = TypeParam;
  TestCore core;
  core.watch();
  VecTile<E, 4, 32> src(3, 10);
  VecTile<int32_t, 4, 32> idx(3, 10);
  TASSIGN(src, 0);
  TASSIGN(idx, 0x1000);
  Values values(6);
  std::vector<E> memory(20), wanted(20);
  for (auto& value : memory) value = values.next_moderate<E>();
  wanted = memory;
  GlobalTensor<E, Shape<1, 1, 1, 4, 5>, Stride<20, 20, 20, 5, 1>> target(memory.data());
  const auto fill = [&](std::uint32_t range) {
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 10; ++c) {
        element(src, r, c) = values.next_moderate<E>();
        element(idx, r, c) = static_cast<int32_t>(values.below(range)) - static_cast<int32_t>((range - 20) / 2);
      }
    }
  };
  const auto each = [&](auto change) {
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 10; ++c) change(element(idx, r, c), element(src, r, c));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_TRUE(same_value(memory[i], wanted[i])) << i;
  };
  fill(20);
  MSCATTER<Coalesce::Elem>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = value; });
  EXPECT_EQ(core.issued().back().pipes, 1u << PIPE_V | 1u << PIPE_MTE3);
  fill(20);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::Add>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = static_cast<E>(wanted[at(i)] + value); });
  fill(20);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::Max>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = value > wanted[at(i)] ? value : wanted[at(i)]; });
  fill(20);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::Min>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = value < wanted[at(i)] ? value : wanted[at(i)]; });
  fill(60);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::None, ScatterOOB::Skip>(target, src, idx);
  each([&](int32_t i, E value) {
    if (i >= 0 && i < 20) wanted[at(i)] = value;
  });
  fill(60);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::None, ScatterOOB::Clamp>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(std::clamp(i, 0, 19))] = value; });
  fill(60);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::None, ScatterOOB::Wrap>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at((i + 20) % 20)] = value; });
  fill(20);
  element(idx, 2, 9) = 20;
  EXPECT_REFUSED(MSCATTER<Coalesce::Elem>(target, src, idx), BATON_KERNEL_OUT_OF_RANGE, "index 20");
}

TEST(ScatterRows, ByTheirNumbers) {
  const TestCore core;
  VecTile<float, 4, 8> src(3, 8);
  VecTile<int32_t, 1, 8> idx(1, 3);
  TASSIGN(src, 0);
  TASSIGN(idx, 0x400);
  Values values(6);
  const auto x = values.matrix<float>(3, 8);
  write_valid(src, x);
  write_valid(idx, {{4, 0, 4}});
  std::vector<float> memory(5 * 16, -1.0f);
  GlobalTensor<float, Shape<1, 1, 1, 5, 8>, Stride<1, 1, 1, 16, 1>> target(memory.data());
  MSCATTER<Coalesce::Row>(target, src, idx);
  for (int c = 0; c < 8; ++c) {
    EXPECT_TRUE(same_value(memory[at(4 * 16 + c)], x[2][at(c)])) << "the last one wins";
    EXPECT_TRUE(same_value(memory[at(c)], x[1][at(c)]));
    EXPECT_EQ(memory[at(16 + c)], -1.0f);
  }
}

TEST(Prefetch, IsCompleteWhenItsEventSaysSo) {
  TestCore core;
  float memory[64] = {1, 2};
  uint8_t workspace[64];
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> line(memory);
  PrefetchAsyncContext context(workspace);
  const comm::AsyncEvent event = TPREFETCH_ASYNC(line, context);
  EXPECT_TRUE(event.Wait(context.GetSession()));
  EXPECT_EQ(memory[1], 2.0f);
  core.finish();
  PrefetchAsyncContext none(nullptr);
  EXPECT_REFUSED(TPREFETCH_ASYNC(line, none), BATON_KERNEL_INVALID_ARGUMENT, "no session");
}

}  // namespace
