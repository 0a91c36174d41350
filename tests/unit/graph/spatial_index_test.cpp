#include "chip/graph/spatial_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <set>

#include "random_tensor.hpp"
#include "support/scale.hpp"

namespace baton::graph {
namespace {

/// An index over one allocation, without anything that uses it.
class OneAllocation {
 public:
  explicit OneAllocation(const Buffer& buffer) {
    std::vector<std::uint32_t> absorbed;
    allocation_ = allocations_.claim(buffer.space, buffer.address, buffer.address + buffer.bytes, absorbed);
  }

  /// Inserts a region; returns those that it was told to meet.
  std::set<std::uint32_t> insert(const Tensor& tensor) {
    last_ = regions_.create(view_of(tensor));
    std::set<std::uint32_t> met;
    index_.insert(last_, allocation_,
                  [&](std::uint32_t other) { EXPECT_TRUE(met.insert(other).second) << "met twice"; });
    return met;
  }
  void remove(std::uint32_t number) {
    index_.remove(number);
    regions_.destroy(number);
  }
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] std::uint64_t looked_at() const { return index_.looked_at(); }

 private:
  RegionStore regions_;
  Allocations allocations_;
  SpatialIndex index_{regions_, allocations_};
  std::uint32_t allocation_ = 0;
  std::uint32_t last_ = 0;
};

/// The most regions that any insertion looked at.
template <class TensorAt>
std::uint64_t most_looked_at(OneAllocation& index, std::int64_t count, TensorAt&& tensor_at) {
  std::uint64_t most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t before = index.looked_at();
    index.insert(tensor_at(i));
    most = std::max(most, index.looked_at() - before);
  }
  return most;
}

constexpr Buffer kMatrixMemory{.address = 1 << 20, .bytes = std::uint64_t{110 * 110 * 24 * 24 * 4} + 4096};

Tensor tile_of(std::int64_t side, std::int64_t number, std::int64_t offset = 0) {
  const std::int64_t edge = 110 * side;
  const Tensor matrix(kMatrixMemory, DType::float32, {edge, edge}, {edge, 1}, offset);
  const std::int64_t row = number / 110 * side;
  const std::int64_t column = number % 110 * side;
  return matrix.slice(row, row + side).slice_dim(1, column, column + side);
}

TEST(SpatialIndex, LooksAtFewOfManyDisjointTiles) {
  for (const std::int64_t side : {8, 16, 23, 24}) {
    OneAllocation index(kMatrixMemory);
    EXPECT_LE(most_looked_at(index, 110 * 110, [&](std::int64_t i) { return tile_of(side, i); }), 36U) << side;
  }
}

TEST(SpatialIndex, LooksAtFewTilesWhereverTheMatrixBeginsAndTheyCome) {
  std::vector<std::int64_t> order(110 * 110);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  test::Random random(8);
  std::shuffle(order.begin(), order.end(), random);
  OneAllocation index(kMatrixMemory);
  EXPECT_LE(most_looked_at(index, 110 * 110,
                           [&](std::int64_t i) { return tile_of(24, order[static_cast<std::size_t>(i)], 777); }),
            36U);
}

TEST(SpatialIndex, LooksAtFewOfManyDisjointSlices) {
  for (const std::int64_t length : {256, 300}) {
    OneAllocation index(kMatrixMemory);
    const Tensor line(kMatrixMemory, DType::uint8, {12000 * length});
    EXPECT_LE(most_looked_at(index, 12000, [&](std::int64_t i) { return line.slice(i * length, (i + 1) * length); }),
              8U);
  }
}

TEST(SpatialIndex, LooksAtFewOfManyBlocksOfACube) {
  const Buffer memory{.address = 1 << 20, .bytes = 23 * 23 * 23 * 64};
  const Tensor cube(memory, DType::uint8, {92, 92, 92});
  OneAllocation index(memory);
  EXPECT_LE(most_looked_at(index, 23 * 23 * 23,
                           [&](std::int64_t i) {
                             const std::int64_t x = i / 529 * 4;
                             const std::int64_t y = i / 23 % 23 * 4;
                             const std::int64_t z = i % 23 * 4;
                             return cube.slice(x, x + 4).slice_dim(1, y, y + 4).slice_dim(2, z, z + 4);
                           }),
            27U * 8U);
}

TEST(SpatialIndex, MeetsEverythingThatOverlaps) {
  using Bytes = std::bitset<4096>;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::scaled(300)); ++seed) {
    test::Random random(seed);
    const Buffer memory{.address = 5000, .bytes = 4096};
    const Tensor matrix = test::matrix_over(memory, test::pick(random, 30, 70));
    OneAllocation index(memory);
    std::map<std::uint32_t, Bytes> present;
    for (int i = 0; i < 300; ++i) {
      if (!present.empty() && test::pick(random, 0, 3) == 0) {
        auto victim = present.begin();
        std::advance(victim, test::pick(random, 0, static_cast<std::int64_t>(present.size()) - 1));
        index.remove(victim->first);
        present.erase(victim);
      }
      const Tensor tensor =
          test::pick(random, 0, 4) == 0 ? test::random_tensor(random, memory) : test::random_tile(random, matrix);
      Bytes bytes;
      test::for_each_byte(tensor, [&](std::uint64_t address) { bytes.set(address - memory.address); });
      const auto met = index.insert(tensor);
      for (const auto& [other, theirs] : present) {
        ASSERT_TRUE((bytes & theirs).none() || met.contains(other)) << "seed " << seed << ": " << tensor.describe();
      }
      present.emplace(index.last(), bytes);
    }
  }
}

}  // namespace
}  // namespace baton::graph
