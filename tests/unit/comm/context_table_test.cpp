#include "comm/context_table.hpp"

#include <baton/comm_context.h>
#include <gtest/gtest.h>

#include <numeric>

namespace baton::comm {
namespace {

TEST(ContextTable, IsAPlainContextUpToSixtyFourRanks) {
  for (const std::size_t ranks : {std::size_t{1}, std::size_t{63}, std::size_t{64}}) {
    std::vector<std::uint64_t> windows(ranks);
    std::iota(windows.begin(), windows.end(), 1000U);
    const std::vector<std::uint64_t> words = make_context(0, 512, windows);
    ASSERT_EQ(words.size() * 8, sizeof(CommContext));
    const auto& context = *reinterpret_cast<const CommContext*>(words.data());
    EXPECT_EQ(context.rankNum, ranks);
    EXPECT_EQ(context.winSize, 512U);
    // Kernels return at once, without a word, if they find none.
    EXPECT_EQ(context.workSpace, reinterpret_cast<std::uint64_t>(&context));
    EXPECT_EQ(context.workSpaceSize, sizeof(CommContext));
    for (std::size_t r = 0; r < COMM_MAX_RANK_NUM; ++r) {
      EXPECT_EQ(context.windowsIn[r], r < ranks ? 1000 + r : 0);
      EXPECT_EQ(context.windowsOut[r], context.windowsIn[r]);
    }
  }
}

TEST(ContextTable, GrowsBeyondThem) {
  std::vector<std::uint64_t> windows(100);
  std::iota(windows.begin(), windows.end(), 1U);
  const std::vector<std::uint64_t> words = make_context(99, 8, windows);
  ASSERT_EQ(words.size() * 8, sizeof(CommContext) + std::size_t{36} * 8);
  const auto& context = *reinterpret_cast<const CommContextLarge*>(words.data());
  EXPECT_EQ(context.first.rankId, 99U);
  EXPECT_EQ(context.first.rankNum, 100U);
  EXPECT_EQ(context.first.windowsIn[63], 64U);
  for (std::size_t i = 0; i < 36; ++i) EXPECT_EQ(words[sizeof(CommContext) / 8 + i], 65 + i);
}

}  // namespace
}  // namespace baton::comm
