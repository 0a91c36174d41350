// Blocks that lie apart: small ones by way of one buffer, large ones straight from memory to memory.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include <baton/error.hpp>
#include <baton/inproc.hpp>

#include "bodies.hpp"

namespace baton::test {
namespace {

using Block = std::vector<std::int32_t>;

TEST(BlocksApart, ArriveWhateverTheirSize) {
  for (const int ranks : {1, 2, 3, 8}) {
    for (const std::size_t count : {0U, 1U, 1'000U, 300'000U}) {
      std::atomic<int> wrong{0};
      run_ranks(ranks, [&](Domain me) { wrong += wrong_blocks(me, count, Way::usual); });
      EXPECT_EQ(wrong, 0) << ranks << " ranks, " << count << " elements";
    }
  }
}

TEST(BlocksApart, AreReadWhereTheyLie) {
  std::atomic<int> wrong{0};
  run_ranks(3, [&](Domain me) { wrong += wrong_blocks(me, 700, Way::memory); });
  EXPECT_EQ(wrong, 0);
}

TEST(BlocksApart, WrongOnesAreRefused) {
  run_ranks(2, [](Domain me) {
    Block block(4);
    Block short_one(3);
    std::vector<Data> out = {block};
    EXPECT_THROW(allgather_blocks(me, block, out), Error) << "one block for two ranks";
    out = {block, short_one};
    EXPECT_THROW(allgather_blocks(me, Block(4), out), Error) << "blocks of different sizes";
    Block other(4);
    out = me.rank() == 0 ? std::vector<Data>{other, block} : std::vector<Data>{block, other};
    EXPECT_THROW(allgather_blocks(me, block, out), Error) << "the block of another rank is the data";
    barrier(me);
  });
}

}  // namespace
}  // namespace baton::test
