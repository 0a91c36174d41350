// TLOAD and TSTORE against a copy element by element.
#include <thread>

#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

template <typename Element>
class LoadStore : public ::testing::Test {};
using LoadedElements =
    ::testing::Types<float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(LoadStore, LoadedElements);

struct FiveSizes {
  std::int64_t size[5];
  [[nodiscard]] std::int64_t address(const std::int64_t (&stride)[5], const std::int64_t (&index)[5]) const {
    std::int64_t sum = 0;
    for (int i = 0; i < 5; ++i) sum += index[i] * stride[i];
    return sum;
  }
};

template <typename Body>
void for_each_index(const std::int64_t (&shape)[5], Body body) {
  std::int64_t i[5];
  for (i[0] = 0; i[0] < shape[0]; ++i[0])
    for (i[1] = 0; i[1] < shape[1]; ++i[1])
      for (i[2] = 0; i[2] < shape[2]; ++i[2])
        for (i[3] = 0; i[3] < shape[3]; ++i[3])
          for (i[4] = 0; i[4] < shape[4]; ++i[4]) body(i);
}

std::int64_t offset_of(const std::int64_t (&index)[5], const std::int64_t (&stride)[5]) {
  std::int64_t sum = 0;
  for (int k = 0; k < 5; ++k) sum += index[k] * stride[k];
  return sum;
}

template <Layout layout>
std::pair<int, int> place_in_tile(const std::int64_t (&i)[5], const std::int64_t (&shape)[5]) {
  if (layout == Layout::ND)
    return {static_cast<int>(((i[0] * shape[1] + i[1]) * shape[2] + i[2]) * shape[3] + i[3]), static_cast<int>(i[4])};
  if (layout == Layout::DN)
    return {static_cast<int>(i[3]), static_cast<int>(((i[0] * shape[1] + i[1]) * shape[2] + i[2]) * shape[4] + i[4])};
  return {static_cast<int>(i[2] * shape[3] + i[3]), static_cast<int>((i[0] * shape[1] + i[1]) * shape[4] + i[4])};
}

/// Loads a tensor of this shape and these strides, compares, stores it elsewhere, compares again.
template <Layout layout, typename TileData>
void expect_round_trip(TileData tile, const std::int64_t (&shape)[5], const std::int64_t (&stride)[5]) {
  using Element = typename TileData::DType;
  using Tensor5 = GlobalTensor<Element, Shape<>, Stride<>, layout>;
  Values values(7);
  std::int64_t size = 1;
  for (int k = 0; k < 5; ++k) size += (shape[k] - 1) * stride[k];
  std::vector<Element> memory(static_cast<std::size_t>(size));
  for (auto& value : memory) value = values.next<Element>();
  std::vector<Element> result(memory.size());
  for (auto& value : result) value = values.next<Element>();
  std::vector<Element> wanted = result;
  const Shape<> shape_of(shape[0], shape[1], shape[2], shape[3], shape[4]);
  const Stride<> stride_of(stride[0], stride[1], stride[2], stride[3], stride[4]);

  TestCore core;
  core.allow("source", memory.data(), memory.size() * sizeof(Element));
  core.allow("result", result.data(), result.size() * sizeof(Element));
  TASSIGN(tile, 96);
  Tensor5 source(memory.data(), shape_of, stride_of);
  TLOAD(tile, source);
  for_each_index(shape, [&](const std::int64_t(&i)[5]) {
    const auto [row, col] = place_in_tile<layout>(i, shape);
    const auto at = static_cast<std::size_t>(offset_of(i, stride));
    ASSERT_TRUE(same_bits(element(tile, row, col), memory[at])) << row << ", " << col;
    wanted[at] = memory[at];
  });
  // A line is moved in blocks of 32 bytes: what the last one holds behind it is unlike any data, the rest is untouched.
  constexpr bool by_rows = baton::kernel::lies_by_rows<TileData>;
  constexpr int block = 32 / static_cast<int>(sizeof(Element));
  for (int row = 0; row < TileData::Rows; ++row) {
    for (int col = 0; col < TileData::Cols; ++col) {
      const bool row_valid = row < tile.GetValidRow();
      const bool col_valid = col < tile.GetValidCol();
      if (row_valid && col_valid) continue;
      const int along = by_rows ? col : row;
      const int valid = by_rows ? tile.GetValidCol() : tile.GetValidRow();
      const bool in_last_block = (by_rows ? row_valid : col_valid) && along < (valid + block - 1) / block * block;
      Element poison;
      std::memset(&poison, !in_last_block ? 0xee : std::is_integral_v<Element> ? 0xa5 : 0xff, sizeof poison);
      ASSERT_TRUE(same_bits(element(tile, row, col), poison)) << row << ", " << col;
    }
  }
  Tensor5 target(result.data(), shape_of, stride_of);
  TSTORE(target, tile);
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_TRUE(same_bits(result[i], wanted[i])) << i;
}

template <typename Element>
constexpr int kRow = 64 / static_cast<int>(sizeof(Element));

TYPED_TEST(LoadStore, RowMajor) {
  using Vec = VecTile<TypeParam, 24, kRow<TypeParam>>;
  constexpr std::int64_t cols = kRow<TypeParam>;
  expect_round_trip<Layout::ND>(Vec(24, cols), {1, 1, 1, 24, cols}, {1, 1, 1, cols, 1});    // one run
  expect_round_trip<Layout::ND>(Vec(2, 3), {1, 1, 1, 2, 3}, {9, 9, 9, 11, 1});              // gaps
  expect_round_trip<Layout::ND>(Vec(24, 5), {2, 3, 2, 2, 5}, {200, 60, 20, 7, 1});          // five dimensions
  expect_round_trip<Layout::ND>(Vec(24, cols), {2, 3, 2, 2, cols}, {400, 130, 64, 70, 1});  // not packed
  expect_round_trip<Layout::ND>(Vec(6, 1), {1, 1, 1, 6, 1}, {0, 0, 0, 3, 77});              // stride of extent 1
  expect_round_trip<Layout::ND>(Vec(1, cols), {1, 1, 1, 1, cols}, {5, 5, 5, 5, 1});
}

TYPED_TEST(LoadStore, ColumnMajor) {
  using Vec = Tile<TileType::Vec, TypeParam, kRow<TypeParam>, 12, BLayout::ColMajor, DYNAMIC, DYNAMIC>;
  constexpr std::int64_t rows = kRow<TypeParam>;
  expect_round_trip<Layout::DN>(Vec(rows, 12), {1, 1, 1, rows, 12}, {1, 1, 1, 1, rows});
  expect_round_trip<Layout::DN>(Vec(3, 12), {2, 1, 2, 3, 3}, {100, 1, 50, 1, 9});
  using Column = Tile<TileType::Vec, TypeParam, kRow<TypeParam>, 1, BLayout::ColMajor>;
  expect_round_trip<Layout::DN>(Column(), {1, 1, 1, rows, 1}, {1, 1, 1, 1, 1});
}

TYPED_TEST(LoadStore, MatTiles) {
  constexpr int kCols = 64;
  using Boxed = Tile<TileType::Mat, TypeParam, 32, kCols, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 512>;
  Values values(3);
  std::vector<TypeParam> memory(30 * 70);
  for (auto& value : memory) value = values.next<TypeParam>();
  const TestCore core;
  using Source = GlobalTensor<TypeParam, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 70, 1>>;
  Source source(memory.data(), {30, 50});
  Boxed tile(30, 50);
  TASSIGN(tile, 0);
  TLOAD(tile, source);
  for (int row = 0; row < 30; ++row) {
    for (int col = 0; col < 50; ++col) {
      ASSERT_TRUE(same_bits(element(tile, row, col), memory[static_cast<std::size_t>(row * 70 + col)]));
    }
  }
  expect_round_trip<Layout::NZ>(Boxed(16, 24), {2, 3, 2, 8, 4}, {400, 120, 40, 4, 1});
}

TEST(Store, TakesEitherLayoutForOneLine) {
  const TestCore core;
  Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor> column;
  TASSIGN(column, 0);
  for (int i = 0; i < 8; ++i) element(column, i, 0) = static_cast<float>(i);
  float out[16] = {};
  GlobalTensor<float, Shape<1, 1, 1, 8, 1>, Stride<16, 16, 16, 2, 1>> rows(out);
  TSTORE(rows, column);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[2 * i], static_cast<float>(i));
  Tile<TileType::Vec, float, 1, 8> row;
  TASSIGN(row, 0);
  GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<16, 16, 16, 1, 2>, Layout::DN> cols(out);
  TSTORE(cols, row);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[2 * i], static_cast<float>(i));
}

template <typename Acc, typename Element>
void expect_converted(Acc value, Element wanted) {
  TileAcc<Acc, 16, 16> tile;
  TASSIGN(tile, 0);
  for (int i = 0; i < 256; ++i) tile.data()[i] = value;
  std::vector<Element> out(256);
  GlobalTensor<Element, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>> target(out.data());
  TSTORE(target, tile);
  for (const Element got : out) ASSERT_TRUE(same_bits(got, wanted));
}

TEST(Store, ConvertsFromAcc) {
  const TestCore core;
  expect_converted<float, float>(1.25f, 1.25f);
  expect_converted<float, half>(1.0f / 3, half(1.0f / 3));
  expect_converted<float, bfloat16_t>(1.0f / 3, bfloat16_t(1.0f / 3));
  expect_converted<float, std::int32_t>(2.5f, 2);
  expect_converted<float, std::int32_t>(1e20f, std::numeric_limits<std::int32_t>::max());
  expect_converted<float, std::int32_t>(NAN, 0);
  expect_converted<std::int32_t, std::int32_t>(-7, -7);
  expect_converted<std::int32_t, float>(-7, -7.0f);
}

template <typename Element>
class AtomicStore : public ::testing::Test {};
using AtomicElements = ::testing::Types<half, float, bfloat16_t, int8_t, int16_t, int32_t>;
TYPED_TEST_SUITE(AtomicStore, AtomicElements);

TYPED_TEST(AtomicStore, LosesNothing) {
  // Every thread adds 1 to the same elements; small sums are exact in every type.
  constexpr int kThreads = 4;
  constexpr int kTimes = 25;
  std::vector<TypeParam> sums(64, static_cast<TypeParam>(0));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&sums] {
      const TestCore core;
      using Vec = Tile<TileType::Vec, TypeParam, 2, 32>;
      using Global = GlobalTensor<TypeParam, Shape<1, 1, 1, 2, 32>, Stride<64, 64, 64, 32, 1>>;
      Vec ones;
      TASSIGN(ones, 0);
      TEXPANDS(ones, 1);
      Global target(sums.data());
      for (int k = 0; k < kTimes; ++k) TSTORE<Vec, Global, AtomicType::AtomicAdd>(target, ones);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const TypeParam sum : sums) EXPECT_EQ(static_cast<float>(sum), static_cast<float>(kThreads * kTimes));
}

TEST(LoadStorePipes, AreReported) {
  TestCore core;
  core.watch();
  float memory[64] = {};
  VecTile<float, 4, 16> tile(2, 8);
  TASSIGN(tile, 128);
  GlobalTensor<float, Shape<1, 1, 1, 2, 8>, Stride<1, 1, 1, 32, 1>> tensor(memory);
  TLOAD(tile, tensor);
  TSTORE(tensor, tile);
  TileAcc<float, 16, 16, 2, 8> acc;
  TASSIGN(acc, 0);
  TSTORE(tensor, acc);
  ASSERT_EQ(core.issued().size(), 3u);
  const auto& load = core.issued()[0];
  EXPECT_EQ(load.name, "TLOAD");
  EXPECT_EQ(load.pipes, 1u << PIPE_MTE2);
  EXPECT_EQ(load.tiles[0].access, BATON_WRITES);
  EXPECT_EQ(load.tiles[0].rows, 2u);
  EXPECT_EQ(load.tiles[0].row_bytes, 32u);
  EXPECT_EQ(load.tiles[0].pitch_bytes, 64u);
  EXPECT_EQ(load.globals[0].access, BATON_READS);
  EXPECT_EQ(load.globals[0].stride_bytes[3], 128);
  EXPECT_EQ(load.globals[0].stride_bytes[0], 0);
  EXPECT_EQ(core.issued()[1].pipes, 1u << PIPE_MTE3);
  EXPECT_EQ(core.issued()[1].globals[0].access, BATON_WRITES);
  EXPECT_EQ(core.issued()[2].pipes, 1u << PIPE_FIX);
}

}  // namespace
