// Kernels that wait for each other, where that goes wrong most easily.
#include <vector>

#include "chip_rank.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace baton::test {

// Far more cores than processors, all of which wait for cores of other ranks.
SCENARIO(ManyCoresMeet, {.sizes = {2, 4, 16}, .hostings = kOneHost}) {
  constexpr int kClusters = 4;
  constexpr int kBlocks = 2 * kClusters;
  ChipRank chip(me, kClusters);
  const auto room = chip.room<std::int32_t>(me, "window", 2 * kBlocks);
  Numbers out(chip, kBlocks, "out");
  chip.run("stamps", {out, room.context(), room.at(), room.at(kBlocks), scaled(20)}, kBlocks);
  for (std::size_t block = 0; block < out.size(); ++block) REQUIRE_EQUAL(out[block], 0.0F);
}

// The words are written before the counter, and read after it.
SCENARIO(WordsComeBeforeTheirCounter, {.sizes = {2}, .hostings = kOneHost}) {
  constexpr std::size_t kWords = 32;
  ChipRank chip(me);
  const auto room = chip.room<std::int32_t>(me, "window", kWords + 2);
  Numbers out(chip, 1, "out");
  chip.run("mailbox", {out, room.context(), room.at(), room.at(kWords), scaled(200)});
  REQUIRE_EQUAL(out[0], 0.0F);
}

// A typed kernel runs like a raw one.
SCENARIO(ATypedKernelReachesPeers, {.sizes = {2, 4}}) {
  constexpr std::size_t kCount = 777;
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "window", kCount + 1);
  Numbers mine(chip, kCount, "mine");
  const int left = (me.rank() + me.size() - 1) % me.size();
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) mine[i] = static_cast<float>(me.rank() + round);
    chip.run("typed_sum", {mine, room.tensor().slice(0, kCount), room.context(), room.at(kCount), round});
    sum += static_cast<float>(left + round);
    const std::vector<float> seen = room.read();
    for (std::size_t i = 0; i < kCount; ++i) REQUIRE_EQUAL(seen[i], sum);
    me.barrier();
  }
}

// Of a matrix whose rows lie apart only the block is touched.
SCENARIO(BlocksOfAMatrixAreReached, {.sizes = {2, 4}}) {
  constexpr std::size_t kRows = 6;
  constexpr std::size_t kCols = 5;
  constexpr std::size_t kPitch = 20;
  constexpr std::size_t kOtherHalf = 10;
  ChipRank chip(me);
  const auto room = chip.room<float>(me, "matrix", kRows * kPitch);
  const auto number = [&](std::size_t i) { return static_cast<float>(1000 * me.rank()) + static_cast<float>(i); };
  std::vector<float> matrix(kRows * kPitch);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = number(i);
  room.write(matrix);
  me.barrier();
  Numbers out(chip, 1, "out");
  chip.run("blocks_and_rows", {out, room.context(), room.at(), (me.rank() + 1) % me.size()});
  REQUIRE_EQUAL(out[0], 0.0F);
  me.barrier();
  matrix = room.read();
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const std::size_t col = i % kPitch;
    const bool written = col >= kOtherHalf && col < kOtherHalf + kCols;
    REQUIRE_EQUAL(matrix[i], number(written ? i - kOtherHalf : i));
  }
}

}  // namespace baton::test
