#include "bodies.hpp"

#include <numeric>
#include <vector>

#include "collectives/selection.hpp"
#include "support/require.hpp"

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

/// How an operation is made: as it chooses, or straight from memory to memory.
CollectiveOptions options_for(Operation operation, Way way) {
  for (const auto& info : collectives::all_algorithms()) {
    if (way == Way::memory && info.operation == operation && info.needs == collectives::Needs::memory)
      return {.algorithm = info.algorithm};
  }
  return {};
}

}  // namespace

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

void pass_messages_round(Domain me) {
  const int left = (me.rank() + me.size() - 1) % me.size();
  const int right = (me.rank() + 1) % me.size();
  for (const std::size_t count : {0U, 1U, 100U, 2047U, 2048U, 2049U, 40'000U}) {
    for (int round = 0; round < 3; ++round) {
      const std::vector<float> out(count, static_cast<float>(me.rank() * 100 + round));
      std::vector<float> in(count, -1);
      // Large messages wait for their receiver: one of each pair receives first.
      if (me.rank() % 2 == 0) {
        send(me, right, out);
        recv(me, left, in);
      } else {
        recv(me, left, in);
        send(me, right, out);
      }
      REQUIRE(in == std::vector<float>(count, static_cast<float>(left * 100 + round)));
    }
  }
}

void exchange_blocks_of_all_sizes(Domain me, Memory memory) {
  const auto size = [](int from, int to) { return static_cast<std::size_t>((from * 5 + to * 3) % 7) * 4000; };
  std::vector<std::size_t> sends;
  std::vector<std::size_t> receives;
  std::vector<std::int32_t> in;
  std::vector<std::int32_t> expected;
  for (int peer = 0; peer < me.size(); ++peer) {
    sends.push_back(size(me.rank(), peer));
    receives.push_back(size(peer, me.rank()));
    in.insert(in.end(), sends.back(), me.rank() * 10 + peer);
    expected.insert(expected.end(), receives.back(), peer * 10 + me.rank());
  }
  const auto window = me.window<std::int32_t>("out", static_cast<std::size_t>(me.size()) * 7 * 4000);
  std::vector<std::int32_t> own(expected.size());
  const bool in_window = memory == Memory::output_in_window;
  const Data out = in_window ? Data(window).slice(0, expected.size()) : Data(own);
  all_to_all_v(me, in, sends, out, receives);
  if (in_window) own.assign(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(expected.size()));
  REQUIRE(own == expected);
}

}  // namespace baton::test
