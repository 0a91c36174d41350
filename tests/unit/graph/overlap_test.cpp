#include "chip/graph/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "chip/graph/congruence.hpp"
#include "random_tensor.hpp"
#include "support/scale.hpp"

namespace baton::graph {
namespace {

constexpr Buffer kShared{.address = 0x10000, .bytes = 600};

bool share_a_byte(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::vector<std::uint64_t> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return !common.empty();
}

TEST(Congruence, FindsTheFirstMultipleInTheWindow) {
  for (std::uint64_t m = 1; m <= 24; ++m) {
    for (std::uint64_t a = 0; a < m; ++a) {
      for (std::uint64_t low = 0; low < m; ++low) {
        for (std::uint64_t high = low; high < m; ++high) {
          std::optional<std::uint64_t> expected;
          for (std::uint64_t x = 0; x < m && !expected; ++x) {
            if (a * x % m >= low && a * x % m <= high) expected = x;
          }
          ASSERT_EQ(first_multiple_within(a, m, low, high), expected)
              << a << " mod " << m << ": " << low << " to " << high;
        }
      }
    }
  }
}

TEST(Congruence, LargeNumbersDoNotOverflow) {
  const std::uint64_t m = (std::uint64_t{1} << 61) - 1;  // a prime
  const std::uint64_t a = 0x123456789abcdefU;
  const auto x = first_multiple_within(a, m, 17, 17);
  ASSERT_TRUE(x);
  __extension__ using Wide = unsigned __int128;
  EXPECT_EQ(static_cast<std::uint64_t>(Wide{a} * *x % m), 17U);
}

TEST(View, CoversExactlyTheBytesOfItsTensor) {
  test::Random random(1);
  for (int i = test::scaled(20000); i > 0; --i) {
    const Tensor tensor = test::random_tensor(random, kShared);
    ASSERT_EQ(test::bytes_of(view_of(tensor)), test::bytes_of(tensor)) << tensor.describe();
    ASSERT_TRUE(view_of(tensor).same_bytes(detail::general_view_of(tensor))) << tensor.describe();
  }
}

TEST(View, DoesNotDependOnHowATensorIsWritten) {
  const Tensor matrix(kShared, DType::float32, {8, 16});
  const View whole = view_of(matrix);
  EXPECT_EQ(whole.dims, 0U);
  EXPECT_EQ(whole.run, 512U);
  EXPECT_TRUE(whole.same_bytes(view_of(matrix.transpose(0, 1))));
  EXPECT_TRUE(whole.same_bytes(view_of(matrix.reverse(0).reverse(1))));
  EXPECT_TRUE(whole.same_bytes(view_of(matrix.reshape({2, 4, 16, 1}))));
  EXPECT_TRUE(whole.same_bytes(view_of(matrix.reinterpret(DType::int8))));
  const View tile = view_of(matrix.slice_dim(0, 2, 4).slice_dim(1, 4, 8));
  EXPECT_EQ(tile.dims, 1U);
  EXPECT_EQ(tile.run, 16U);
  EXPECT_EQ(tile.dim[0], (ViewDim{2, 64}));
  EXPECT_EQ(tile.hash(), view_of(matrix.slice_dim(1, 4, 8).slice_dim(0, 2, 4).transpose(0, 1)).hash());
}

TEST(Overlap, AgreesWithMarkingEveryByte) {
  test::Random random(2);
  int undecided = 0;
  int overlapping = 0;
  const int pairs = test::scaled(60000);
  for (int i = 0; i < pairs; ++i) {
    const Tensor a = test::random_tensor(random, kShared);
    const Tensor b = test::random_tensor(random, kShared);
    const bool expected = share_a_byte(test::bytes_of(a), test::bytes_of(b));
    const Overlap answer = overlap(view_of(a), view_of(b));
    overlapping += expected ? 1 : 0;
    if (answer == Overlap::undecided) {
      ++undecided;
    } else {
      ASSERT_EQ(answer == Overlap::some, expected) << a.describe() << "\n" << b.describe();
    }
    ASSERT_EQ(overlap(view_of(b), view_of(a)) == Overlap::none, answer == Overlap::none);
  }
  EXPECT_GT(overlapping, pairs / 20);
  EXPECT_LT(overlapping, pairs - pairs / 20);
  EXPECT_LE(undecided, pairs / 1000);
}

TEST(Overlap, NeverMissesOneWhenWorkIsScarce) {
  test::Random random(3);
  for (int i = test::scaled(20000); i > 0; --i) {
    const Tensor a = test::random_tensor(random, kShared);
    const Tensor b = test::random_tensor(random, kShared);
    if (!share_a_byte(test::bytes_of(a), test::bytes_of(b))) continue;
    ASSERT_NE(overlap(view_of(a), view_of(b), 1), Overlap::none) << a.describe() << "\n" << b.describe();
  }
}

TEST(Overlap, DecidesInterleavedColumnsOfALargeMatrix) {
  const Buffer large{.address = 0x100000, .bytes = std::uint64_t{1} << 40};
  const Tensor matrix(large, DType::float32, {1 << 18, 1 << 20});
  const auto column = [&](std::int64_t at, std::int64_t step) {
    return view_of(matrix.slice_dim(1, at, 1 << 20, step));
  };
  EXPECT_EQ(overlap(column(0, 2), column(1, 2)), Overlap::none);
  EXPECT_EQ(overlap(column(0, 2), column(1, 3)), Overlap::some);
  EXPECT_EQ(overlap(column(0, 6), column(3, 4)), Overlap::none);
  EXPECT_EQ(overlap(column(0, 6), column(3, 9)), Overlap::some);
  EXPECT_EQ(overlap(column(0, 6), column(2, 9)), Overlap::none);
}

TEST(Covers, IsNeverWrongAndKnowsBoxes) {
  test::Random random(4);
  for (int i = test::scaled(20000); i > 0; --i) {
    const Tensor a = test::random_tensor(random, kShared);
    const Tensor b = i % 2 == 0 ? test::random_tensor(random, kShared)
                                : a.slice_dim(0, test::pick(random, 0, a.extent(0) - 1), a.extent(0));
    const auto outer = test::bytes_of(a);
    const auto inner = test::bytes_of(b);
    if (covers(view_of(a), view_of(b))) {
      ASSERT_TRUE(std::includes(outer.begin(), outer.end(), inner.begin(), inner.end())) << a.describe() << "\n"
                                                                                         << b.describe();
    }
  }
  const Tensor matrix(kShared, DType::uint8, {20, 30});
  const View tile = view_of(matrix.slice_dim(0, 4, 12).slice_dim(1, 5, 15));
  EXPECT_TRUE(covers(view_of(matrix), tile));
  EXPECT_TRUE(covers(tile, tile));
  EXPECT_TRUE(covers(tile, view_of(matrix.slice_dim(0, 5, 7).slice_dim(1, 5, 15))));
  EXPECT_TRUE(covers(tile, view_of(matrix.index(11).slice(6, 8))));
  EXPECT_FALSE(covers(tile, view_of(matrix.slice_dim(0, 4, 12).slice_dim(1, 5, 16))));
  EXPECT_FALSE(covers(tile, view_of(matrix.slice_dim(0, 4, 13).slice_dim(1, 5, 15))));
}

}  // namespace
}  // namespace baton::graph
