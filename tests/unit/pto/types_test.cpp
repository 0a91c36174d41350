// Shapes, strides, tensors and tiles.
#include <type_traits>

#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"

namespace {

using baton::test::KernelFailure;
using baton::test::TestCore;
using namespace pto;

TEST(Shape, FillsInWhatTheTypeFixes) {
  const Shape<> none;
  for (const auto size : none.shape) EXPECT_EQ(size, 1);
  const Shape<1, 1, 1, DYNAMIC, 64> one(7);
  EXPECT_EQ(one.shape[3], 7);
  EXPECT_EQ(one.shape[4], 64);
  const Shape<1, 1, DYNAMIC, DYNAMIC, 64> two(5u, std::size_t{6});
  EXPECT_EQ(two.shape[2], 5);
  EXPECT_EQ(two.shape[3], 6);
  const Shape<1, 1, 1, DYNAMIC, 64> five(9, 9, 9, 9, 9);
  EXPECT_EQ(five.shape[0], 1);
  EXPECT_EQ(five.shape[3], 9);
  EXPECT_EQ(five.shape[4], 64);
  static_assert(Shape<1, 2, 3, 4, 5>::staticShape[4] == 5 && Shape<>::staticShape[0] == DYNAMIC);
  static_assert(std::is_trivially_copyable_v<Shape<>>);
  static_assert(!std::is_constructible_v<Shape<1, 1, 1, DYNAMIC, 64>, int, int>);
}

TEST(Stride, FillsInWhatTheTypeFixes) {
  const Stride<64, 64, 64, DYNAMIC, 1> one(128);
  EXPECT_EQ(one.stride[3], 128);
  EXPECT_EQ(one.stride[0], 64);
  const Stride<> five{1, 2, 3, 4, 5};
  EXPECT_EQ(five.stride[2], 3);
}

TEST(GlobalTensor, IsAView) {
  float data[8] = {};
  using Tensor1 = GlobalTensor<const float, Shape<1, 1, 1, DYNAMIC, 4>, Stride<1, 1, 1, 4, 1>>;
  Tensor1 tensor(data, Shape<1, 1, 1, DYNAMIC, 4>(2));
  EXPECT_EQ(tensor.data(), data);
  EXPECT_EQ(tensor.GetShape(GlobalTensorDim::DIM_3), 2);
  EXPECT_EQ(tensor.GetStride(3), 4);
  static_assert(Tensor1::GetShape<GlobalTensorDim::DIM_4>() == 4 && Tensor1::GetStride<3>() == 4);
  static_assert(Tensor1::layout == Layout::ND && Tensor1::staticShape[4] == 4 && Tensor1::staticStride[3] == 4);
  static_assert(std::is_same_v<Tensor1::RawDType, float> && std::is_same_v<Tensor1::DType, const float>);
  tensor.SetShape<3>(1);
  EXPECT_EQ(tensor.GetShape(3), 1);
  Tensor1 copy = tensor;
  TASSIGN(copy, data + 4);
  EXPECT_EQ(copy.data(), data + 4);
  EXPECT_EQ(Tensor1().data(), nullptr);
  using Open = GlobalTensor<float, Shape<1, 1, 1, 2, 4>, Stride<1, 1, 1, DYNAMIC, 1>>;
  Open open(nullptr, Open::Shape(), Open::Stride(8));
  open.SetStride<3>(16);
  EXPECT_EQ(open.GetStride(3), 16);
}

TEST(Tile, KnowsItsBoxes) {
  using Left = TileLeft<half, 32, 64>;
  static_assert(Left::Loc == TileType::Left && Left::isBoxedLayout && Left::InnerRows == 16 && Left::InnerCols == 16);
  using Right = TileRight<float, 64, 32>;
  static_assert(Right::InnerRows == 8 && Right::InnerCols == 16 && Right::SFractal == SLayout::ColMajor);
  using Acc = TileAcc<float, 32, 32>;
  static_assert(Acc::InnerRows == 16 && Acc::InnerCols == 16 && Acc::SFractalSize == 1024 && !Acc::isRowMajor);
  using Mat = Tile<TileType::Mat, int8_t, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor, 512>;
  static_assert(Mat::InnerRows == 16 && Mat::InnerCols == 32 && Mat::Numel == 2048);
  using Vec = Tile<TileType::Vec, float, 4, 64>;
  static_assert(Vec::RowStride == 64 && Vec::ColStride == 1 && Vec::InnerRows == 1 && Vec::InnerCols == 1);
  using Col = Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor>;
  static_assert(Col::RowStride == 1 && Col::ColStride == 64 && std::is_same_v<Col::TileDType, float*>);
}

TEST(Tile, TakesItsValidSizeWhereTheTypeLeavesItOpen) {
  const TestCore core;
  using Both = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
  Both both(3, std::size_t{5});
  EXPECT_EQ(both.GetValidRow(), 3);
  EXPECT_EQ(both.GetValidCol(), 5);
  both.SetValidShape(16, 64);
  EXPECT_EQ(both.RowMaskInternal, 16);
  EXPECT_EQ(both.ColMaskInternal, 64);
  using RowsOnly = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, DYNAMIC, 64>;
  EXPECT_EQ(RowsOnly(4u).GetValidRow(), 4);
  EXPECT_EQ(RowsOnly(4u).GetValidCol(), 64);
  using ColsOnly = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, DYNAMIC>;
  EXPECT_EQ(ColsOnly{7}.GetValidCol(), 7);
  EXPECT_EQ(Both().GetValidRow(), DYNAMIC);
  EXPECT_THROW(Both(17, 5), KernelFailure);
  EXPECT_THROW(Both(3, 65), KernelFailure);
  EXPECT_EQ(Both(0, 5).GetValidRow(), 0);
  EXPECT_THROW(Both(-1, 5), KernelFailure);
  EXPECT_THROW(both.SetValidCol(65), KernelFailure);
}

TEST(Tile, GivesScalarsOfVecTiles) {
  TestCore core;
  core.watch();
  Tile<TileType::Vec, int32_t, 2, 8> tile;
  EXPECT_THROW((void)tile.GetValue(0), KernelFailure);
  TASSIGN(tile, 64);
  tile.SetValue(9, 42);
  EXPECT_EQ(tile.GetValue(9), 42);
  EXPECT_THROW((void)tile.GetValue(16), KernelFailure);
  EXPECT_THROW(tile.SetValue(-1, 0), KernelFailure);
  ASSERT_EQ(core.issued().size(), 2u);
  EXPECT_EQ(core.issued()[0].pipes, 1u << PIPE_S);
  EXPECT_EQ(core.issued()[0].tiles[0].access, BATON_WRITES);
  EXPECT_EQ(core.issued()[0].tiles[0].address, core.buffers[0].base + 64 + 36);
}

TEST(Assign, PlacesTilesInTheBufferOfTheirType) {
  const TestCore core;
  Tile<TileType::Vec, float, 16, 1024> vec[3];  // 64 KiB each: they fill the buffer
  for (int i = 0; i < 3; ++i) TASSIGN(vec[i], i * 0x10000);
  EXPECT_EQ(reinterpret_cast<unsigned char*>(vec[2].data()), core.buffers[0].base + 0x20000);
  TileAcc<float, 128, 256> acc;
  TASSIGN<0>(acc);
  EXPECT_EQ(reinterpret_cast<unsigned char*>(acc.data()), core.buffers[4].base);
  Tile<TileType::Vec, half, 32, 1024> same;
  TRESHAPE(same, vec[1]);
  EXPECT_EQ(static_cast<void*>(same.data()), static_cast<void*>(vec[1].data()));
}

}  // namespace
