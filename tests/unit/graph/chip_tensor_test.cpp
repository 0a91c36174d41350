#include "chip/graph/chip_tensor.hpp"

#include <gtest/gtest.h>

#include "expect_fails.hpp"

namespace baton::graph {
namespace {

TEST(ChipTensor, DescribesTheSameElements) {
  const Buffer buffer{.address = 0x4000, .bytes = 4096};
  const baton::Tensor tile = baton::Tensor(buffer, DType::float32, {32, 32}).slice(4, 8).slice_dim(1, 8, 24, 2);
  const ChipTensor chip = to_chip_tensor(tile, 77);
  EXPECT_EQ(chip.buffer.addr, 0x4000U);
  EXPECT_EQ(chip.buffer.size, 4096U);
  EXPECT_EQ(chip.owner_task_id.raw, 77U);
  EXPECT_EQ(chip.start_offset, 4U * 32 + 8);
  EXPECT_EQ(chip.ndims, 2U);
  EXPECT_EQ(chip.dtype, DataType::FLOAT32);
  EXPECT_EQ(chip.is_contiguous, 0);
  EXPECT_EQ(chip.shapes[0], 4U);
  EXPECT_EQ(chip.shapes[1], 8U);
  EXPECT_EQ(chip.strides[0], 32U);
  EXPECT_EQ(chip.strides[1], 2U);
  EXPECT_EQ(chip.extent_elem_cache, 3U * 32 + 7 * 2 + 1);
  EXPECT_EQ(to_chip_tensor(tile.index(0).index(0)).ndims, 1U);
}

TEST(ChipTensor, RefusesWhatThirtyTwoBitsCannotHold) {
  const Buffer huge{.address = 0x4000, .bytes = std::uint64_t{1} << 40};
  test::expect_fails(Code::out_of_range, {"extent 4294967296", "dimension 0"},
                     [&] { (void)to_chip_tensor(baton::Tensor(huge, DType::uint8, {std::int64_t{1} << 32})); });
  test::expect_fails(Code::out_of_range, {"stride 4294967296", "dimension 1"}, [&] {
    (void)to_chip_tensor(baton::Tensor(huge, DType::uint8, {2, 2}, {1, std::int64_t{1} << 32}));
  });
  test::expect_fails(Code::out_of_range, {"stride -1", "dimension 0"},
                     [&] { (void)to_chip_tensor(baton::Tensor(huge, DType::uint8, {4}).reverse(0)); });
}

}  // namespace
}  // namespace baton::graph
