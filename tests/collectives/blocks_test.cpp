// Blocks that lie apart: small ones by way of one buffer, large ones straight from memory to memory.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include <baton/error.hpp>
#include <baton/inproc.hpp>

#include "cases.hpp"
#include "collectives/selection.hpp"

namespace baton::test {
namespace {

using collectives::Operation;
using Block = std::vector<std::int32_t>;

Block block_of(int from, int to, std::size_t count) {
  Block block(count);
  std::iota(block.begin(), block.end(), 100'000 * from + 10'000 * to);
  return block;
}

template <class Kind>
std::vector<Kind> listed(std::vector<Block>& blocks) {
  return {blocks.begin(), blocks.end()};
}

enum class Way { usual, memory };

/// How an operation is made: as it chooses, or straight from memory to memory.
CollectiveOptions options_for(Operation operation, Way way) {
  for (const auto& info : collectives::all_algorithms()) {
    if (way == Way::memory && info.operation == operation && info.needs == collectives::Needs::memory)
      return {.algorithm = info.algorithm};
  }
  return {};
}

/// The number of blocks that are not what they should be.
int wrong_blocks(const Domain& me, std::size_t count, Way way) {
  const int ranks = me.size();
  const int root = ranks - 1;
  int wrong = 0;
  std::vector<Block> all(static_cast<std::size_t>(ranks), Block(count));
  const Block mine = block_of(me.rank(), 0, count);
  const auto check_all = [&] {
    for (int rank = 0; rank < ranks; ++rank) wrong += all[static_cast<std::size_t>(rank)] != block_of(rank, 0, count);
  };
  allgather_blocks(me, mine, listed<Data>(all), options_for(Operation::allgather, way));
  check_all();

  all.assign(all.size(), Block(count));
  gather_blocks(me, mine, me.rank() == root ? listed<Data>(all) : std::vector<Data>{}, root,
                options_for(Operation::gather, way));
  if (me.rank() == root) check_all();

  std::vector<Block> given;
  for (int rank = 0; me.rank() == root && rank < ranks; ++rank) given.push_back(block_of(root, rank, count));
  Block got(count);
  scatter_blocks(me, listed<ConstData>(given), got, root, options_for(Operation::scatter, way));
  wrong += got != block_of(root, me.rank(), count);

  // The own block is the data itself.
  all[static_cast<std::size_t>(me.rank())] = mine;
  allgather_blocks(me, all[static_cast<std::size_t>(me.rank())], listed<Data>(all),
                   options_for(Operation::allgather, way));
  check_all();
  return wrong;
}

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
