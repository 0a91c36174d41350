// Sorting and merging: against stable sorts of vectors.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "expect_refused.hpp"
#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

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

}  // namespace
