// The typed form of kernels: what BATON_KERNEL makes, and what it says about wrong arguments.
#include <baton_kernel.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "test_core.hpp"
#include "typed_kernels.hpp"

using namespace pto;

/// y = factor * x, for packed tensors of any size.
BATON_KERNEL(typed_scale, In<float> x, Out<float> y, float factor) {
  constexpr int kCols = 256;
  Tile<TileType::Vec, float, 1, kCols, BLayout::RowMajor, 1, DYNAMIC> tile;
  TASSIGN(tile, 0);
  for (int64_t i = 0; i < x.size(); i += kCols) {
    const int64_t count = x.size() - i < kCols ? x.size() - i : kCols;
    tile.SetValidCol(static_cast<unsigned>(count));
    auto from = x.line(i, count);
    auto to = y.line(i, count);
    TLOAD(tile, from);
    pipe_barrier(PIPE_ALL);
    TMULS(tile, tile, factor);
    pipe_barrier(PIPE_ALL);
    TSTORE(to, tile);
    pipe_barrier(PIPE_ALL);
  }
}

namespace nested {

/// Scalars before tensors, names that others use too, and where the kernel runs.
BATON_CUBE_KERNEL(typed_mixed, int32_t n, InOut<half, 2> z, const CommContext* context, In<bfloat16_t> b, bool flag) {
  z.data()[0] = static_cast<float>(n);
  z.data()[1] = static_cast<float>(get_block_idx(args));
  z.data()[2] = static_cast<float>(context->rankId);
  z.data()[3] = static_cast<float>(b.data()[0]) + (flag ? 1.0f : 0.0f);
}

}  // namespace nested

/// Corner of a matrix with padded rows, doubled in place.
BATON_KERNEL(typed_corner, InOut<float, 2> matrix, int64_t row, int64_t col) {
  Tile<TileType::Vec, float, 2, 8> tile;
  TASSIGN(tile, 0);
  auto corner = matrix.block(row, col, 2, 8);
  TLOAD(tile, corner);
  pipe_barrier(PIPE_ALL);
  TADD(tile, tile, tile);
  pipe_barrier(PIPE_ALL);
  TSTORE(corner, tile);
  pipe_barrier(PIPE_ALL);
}

/// A tensor of any rank through its whole view.
BATON_KERNEL(typed_whole, In<int32_t> from, Out<int32_t> to) {
  Tile<TileType::Vec, int32_t, 6, 8> tile;
  TASSIGN(tile, 0);
  auto source = from.global();
  auto target = to.global();
  TLOAD(tile, source);
  pipe_barrier(PIPE_ALL);
  TSTORE(target, tile);
  pipe_barrier(PIPE_ALL);
}

namespace {

using baton::test::KernelFailure;
using baton::test::TestCore;

static_assert(
    std::is_same_v<decltype(typed_scale), const baton::TypedKernel<baton::In<float>, baton::Out<float>, float>>);
static_assert(typed_scale.signature->parameter_count == 3 && typed_scale.core == BATON_CORE_VECTOR);
static_assert(nested::typed_mixed.core == BATON_CORE_CUBE);

/// A kernel's arguments, as a runtime prepares them.
struct Arguments {
  int64_t slots[50] = {};
  LocalContext local = {};
  GlobalContext global = {};

  Arguments() {
    slots[48] = reinterpret_cast<int64_t>(&local);
    slots[49] = reinterpret_cast<int64_t>(&global);
  }
};

template <typename Element>
ChipTensor tensor_of(std::vector<Element>& data, std::vector<uint32_t> shape, DataType dtype) {
  ChipTensor tensor = {};
  tensor.buffer = {reinterpret_cast<std::uintptr_t>(data.data()), data.size() * sizeof(Element)};
  tensor.dtype = dtype;
  tensor.ndims = static_cast<uint32_t>(shape.size());
  uint32_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    tensor.shapes[i] = shape[i];
    tensor.strides[i] = stride;
  }
  return tensor;
}

int64_t slot(const void* pointer) { return reinterpret_cast<int64_t>(pointer); }

/// What the kernel says about its arguments; empty if nothing.
std::string complaint(const baton::Kernel& kernel, Arguments& arguments, int code = BATON_KERNEL_INVALID_ARGUMENT) {
  TestCore core;
  try {
    kernel.function(arguments.slots);
    core.finish();
    return "";
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.code, code);
    EXPECT_NE(failure.file.find("typed_test.cpp"), std::string::npos);
    EXPECT_NE(failure.line, 0U);
    return failure.what();
  }
}

class Typed : public testing::Test {
 protected:
  Typed() : x(600), y(600) {
    std::iota(x.begin(), x.end(), 1.0f);
    tx = tensor_of(x, {600}, DataType::FLOAT32);
    ty = tensor_of(y, {20, 30}, DataType::FLOAT32);
    arguments.slots[0] = slot(&tx);
    arguments.slots[1] = slot(&ty);
    arguments.slots[2] = static_cast<int64_t>(to_u64(2.5f));
  }
  std::vector<float> x, y;
  ChipTensor tx, ty;
  Arguments arguments;
};

TEST_F(Typed, UnpacksTensorsAndScalars) {
  EXPECT_EQ(complaint(typed_scale, arguments), "");
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 2.5f * x[i]);
}

TEST_F(Typed, TensorsComeFirstWhateverTheOrderOfParameters) {
  std::vector<half> z(8);
  std::vector<bfloat16_t> b = {bfloat16_t(8.0f)};
  const ChipTensor tz = tensor_of(z, {2, 4}, DataType::FLOAT16);
  const ChipTensor tb = tensor_of(b, {1}, DataType::BFLOAT16);
  CommContext context = {};
  context.rankId = 6;
  arguments.local.block_idx = 5;
  const int64_t slots[] = {slot(&tz), slot(&tb), 4, slot(&context), 1};
  std::copy(std::begin(slots), std::end(slots), arguments.slots);
  EXPECT_EQ(complaint(nested::typed_mixed, arguments), "");
  EXPECT_EQ(std::vector<float>(z.begin(), z.begin() + 4), (std::vector<float>{4, 5, 6, 9}));
}

TEST_F(Typed, SignaturesSayWhatTheAuthorWrote) {
  const BatonKernelSignature& signature = *nested::typed_mixed.signature;
  ASSERT_EQ(signature.parameter_count, 5U);
  const std::vector<std::string> names = {"n", "z", "context", "b", "flag"};
  const std::vector<uint32_t> slots = {2, 0, 3, 1, 4};
  const std::vector<uint32_t> types = {BATON_TYPE_INT32, BATON_TYPE_FLOAT16, BATON_TYPE_POINTER, BATON_TYPE_BFLOAT16,
                                       BATON_TYPE_BOOL};
  const std::vector<uint32_t> directions = {BATON_DIRECTION_SCALAR, BATON_DIRECTION_INOUT, BATON_DIRECTION_SCALAR,
                                            BATON_DIRECTION_IN, BATON_DIRECTION_SCALAR};
  const std::vector<int32_t> dims = {0, 2, 0, BATON_ANY_DIMS, 0};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(signature.parameters[i].name, names[i]);
    EXPECT_EQ(signature.parameters[i].slot, slots[i]) << names[i];
    EXPECT_EQ(signature.parameters[i].type, types[i]) << names[i];
    EXPECT_EQ(signature.parameters[i].direction, directions[i]) << names[i];
    EXPECT_EQ(signature.parameters[i].dims, dims[i]) << names[i];
  }
  EXPECT_NE(std::string(signature.file).find("typed_test.cpp"), std::string::npos);
}

TEST_F(Typed, AHandleIsTheSameInOtherFiles) {
  EXPECT_EQ(address_of_typed_scale(), &typed_scale);
  EXPECT_STREQ(typed_scale.name, "typed_scale");
}

TEST_F(Typed, AWrongTensorIsNamed) {
  ty.dtype = DataType::INT32;
  EXPECT_EQ(complaint(typed_scale, arguments), "typed_scale: argument 2 'y' is Out<float>, got a tensor of int32");
  arguments.slots[1] = 0;
  EXPECT_EQ(complaint(typed_scale, arguments), "typed_scale: argument 2 'y' is Out<float>, got no tensor");
  tx.ndims = 6;
  EXPECT_EQ(complaint(typed_scale, arguments),
            "typed_scale: argument 1 'x' is In<float>, got a tensor of 6 dimensions; 1 to 5 are possible");
  EXPECT_EQ(complaint(typed_corner, arguments),
            "typed_corner: argument 1 'matrix' is InOut<float>, got a tensor of 6 dimensions; 1 to 5 are possible");
  tx.ndims = 1;
  EXPECT_EQ(complaint(typed_corner, arguments),
            "typed_corner: argument 1 'matrix' is InOut<float>, got a tensor of 1 dimensions instead of 2");
}

TEST_F(Typed, PartsOutsideTheTensorAreErrors) {
  ty = tensor_of(y, {19, 30}, DataType::FLOAT32);
  EXPECT_EQ(complaint(typed_scale, arguments, BATON_KERNEL_OUT_OF_RANGE),
            "line: elements 512 to 600 of a tensor that has 570");
  ty = tensor_of(y, {20, 30}, DataType::FLOAT32);
  arguments.slots[0] = slot(&ty);
  arguments.slots[1] = 19;
  arguments.slots[2] = 0;
  EXPECT_EQ(complaint(typed_corner, arguments, BATON_KERNEL_OUT_OF_RANGE),
            "block: rows 19 to 21 of a tensor that has 20");
  arguments.slots[1] = 0;
  arguments.slots[2] = -1;
  EXPECT_EQ(complaint(typed_corner, arguments, BATON_KERNEL_OUT_OF_RANGE),
            "block: columns -1 to 7 of a tensor that has 30");
}

TEST_F(Typed, BlocksKnowThePitchOfTheirRows) {
  std::iota(y.begin(), y.end(), 0.0f);
  arguments.slots[0] = slot(&ty);
  arguments.slots[1] = 3;
  arguments.slots[2] = 22;
  EXPECT_EQ(complaint(typed_corner, arguments), "");
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool inside = i / 30 >= 3 && i / 30 < 5 && i % 30 >= 22;
    ASSERT_EQ(y[i], static_cast<float>(inside ? 2 * i : i)) << i;
  }
}

TEST_F(Typed, WhatIsNotPackedIsNoLine) {
  tx.strides[0] = 2;
  tx.shapes[0] = 300;
  EXPECT_EQ(complaint(typed_scale, arguments),
            "line: the elements of the tensor do not follow each other; use block()");
}

TEST_F(Typed, TheWholeTensorHasFiveDimensions) {
  std::vector<int32_t> from(48), to(48);
  std::iota(from.begin(), from.end(), 7);
  ChipTensor tfrom = tensor_of(from, {2, 3, 8}, DataType::INT32);
  const ChipTensor tto = tensor_of(to, {6, 8}, DataType::INT32);
  // The first two dimensions exchanged: six rows in another order.
  std::swap(tfrom.shapes[0], tfrom.shapes[1]);
  std::swap(tfrom.strides[0], tfrom.strides[1]);
  arguments.slots[0] = slot(&tfrom);
  arguments.slots[1] = slot(&tto);
  EXPECT_EQ(complaint(typed_whole, arguments), "");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(to[i * 16 + j * 8 + k], from[j * 24 + i * 8 + k]);
    }
  }
}

TEST(ScalarSlots, KeepBytesAndSigns) {
  EXPECT_EQ(baton::scalar_slot(int32_t{-3}), -3);
  EXPECT_EQ(baton::scalar_slot(uint32_t{4'000'000'000}), 4'000'000'000);
  EXPECT_EQ(baton::scalar_slot(1.5f), static_cast<int64_t>(to_u64(1.5f)));
  EXPECT_EQ(from_u64<int8_t>(static_cast<uint64_t>(baton::scalar_slot(int8_t{-7}))), -7);
  const CommContext context = {};
  EXPECT_EQ(baton::scalar_slot(&context), slot(&context));
}

TEST(ParameterNames, AreTheLastWords) {
  constexpr auto kNames = baton::kernel::parameter_names<4>("In<Pair<int, 2>, 3> first, const T* second,int (third),f");
  EXPECT_STREQ(kNames[0], "first");
  EXPECT_STREQ(kNames[1], "second");
  EXPECT_STREQ(kNames[2], "");  // brackets around a name hide it
  EXPECT_STREQ(kNames[3], "");  // a type alone
}

}  // namespace
