#include <baton/tensor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "expect_fails.hpp"
#include "random_tensor.hpp"
#include "support/scale.hpp"

namespace baton {
namespace {

using test::expect_fails;

constexpr Buffer kBuffer{.address = 0x1000, .bytes = 480};

/// The offsets of all elements in row-major order.
std::vector<std::int64_t> elements(const Tensor& tensor) {
  std::vector<std::int64_t> result{tensor.offset()};
  for (std::size_t dim = 0; dim < tensor.shape().size(); ++dim) {
    std::vector<std::int64_t> next;
    for (const std::int64_t offset : result) {
      for (std::int64_t i = 0; i < tensor.shape()[dim]; ++i) next.push_back(offset + i * tensor.strides()[dim]);
    }
    result = std::move(next);
  }
  return result;
}

TEST(Tensor, IsRowMajorOverSpans) {
  std::vector<float> data(24);
  const Tensor line = Tensor::over(std::span(data));
  EXPECT_EQ(line.dims(), 1);
  EXPECT_EQ(line.extent(0), 24);
  EXPECT_EQ(line.dtype(), DType::float32);
  EXPECT_EQ(line.address(), reinterpret_cast<std::uint64_t>(data.data()));
  const Tensor cube = Tensor::over(std::span<const float>(data), {2, 3, 4});
  EXPECT_EQ(cube.stride(0), 12);
  EXPECT_EQ(cube.stride(2), 1);
  EXPECT_EQ(cube.element_count(), 24);
  EXPECT_TRUE(cube.is_contiguous());
  EXPECT_EQ(cube.index(1).select(0, 2).index(3).address(), reinterpret_cast<std::uint64_t>(&data[23]));
}

TEST(Tensor, ViewsOfViewsFindTheirElements) {
  const Tensor matrix(kBuffer, DType::float32, {6, 20});
  EXPECT_EQ(elements(matrix.slice(1, 6, 2).slice_dim(1, 3, 5)), (std::vector<std::int64_t>{23, 24, 63, 64, 103, 104}));
  EXPECT_EQ(elements(matrix.slice_dim(1, 18, 20).slice(0, 2).transpose(0, 1)),
            (std::vector<std::int64_t>{18, 38, 19, 39}));
  EXPECT_EQ(elements(matrix.index(2).slice(4, 7).reverse(0)), (std::vector<std::int64_t>{46, 45, 44}));
  EXPECT_EQ(matrix.permute({1, 0}).stride(0), 1);
  EXPECT_FALSE(matrix.permute({1, 0}).is_contiguous());
  EXPECT_EQ(matrix.select(1, 7).stride(0), 20);
}

TEST(Tensor, ReshapeKeepsTheOrderOfElementsOrSaysWhyNot) {
  test::Random random(11);
  int reshaped = 0;
  for (int i = test::scaled(5000); i > 0; --i) {
    const Tensor tensor = test::random_tensor(random, kBuffer);
    std::vector<std::int64_t> shape;
    std::int64_t left = tensor.element_count();
    for (int dim = 0; dim < kMaxDims - 1 && left > 1; ++dim) {
      std::int64_t factor = test::pick(random, 1, left);
      while (left % factor != 0) --factor;
      shape.push_back(factor);
      left /= factor;
    }
    shape.push_back(left);
    try {
      const Tensor other = tensor.reshape(Tensor::Extents(shape));
      EXPECT_EQ(elements(other), elements(tensor)) << tensor.describe() << " as " << other.describe();
      ++reshaped;
    } catch (const Error& error) {
      ASSERT_FALSE(tensor.is_contiguous()) << error.what();
      ASSERT_EQ(error.code(), Code::invalid_argument);
    }
  }
  EXPECT_GT(reshaped, 0);
  const Tensor matrix(kBuffer, DType::float32, {6, 20});
  expect_fails(Code::invalid_argument, {"[20, 6]", "without a copy", "dimension 0"},
               [&] { (void)matrix.transpose(0, 1).reshape({120}); });
  expect_fails(Code::invalid_argument, {"120 elements", "121"}, [&] { (void)matrix.reshape({121}); });
  EXPECT_EQ(matrix.slice_dim(1, 0, 10).reshape({2, 3, 10, 1}).stride(0), 60);
}

TEST(Tensor, ReinterpretationChangesTheLastDimension) {
  const Tensor matrix(kBuffer, DType::float32, {6, 20});
  const Tensor bytes = matrix.slice_dim(1, 4, 8).reinterpret(DType::uint8);
  EXPECT_EQ(bytes.extent(1), 16);
  EXPECT_EQ(bytes.stride(0), 80);
  EXPECT_EQ(bytes.address(), matrix.slice_dim(1, 4, 8).address());
  EXPECT_EQ(bytes.reinterpret(DType::float32).extent(1), 4);
  expect_fails(Code::invalid_argument, {"stride 20"}, [&] { (void)matrix.transpose(0, 1).reinterpret(DType::uint8); });
  expect_fails(Code::misaligned, {"extent", "dimension 1"},
               [&] { (void)matrix.slice_dim(1, 0, 3).reinterpret(DType::int64); });
}

TEST(Tensor, RefusesWhatLeavesTheBuffer) {
  expect_fails(Code::out_of_range, {"120", "float32"}, [] { (void)Tensor(kBuffer, DType::float32, {121}); });
  expect_fails(Code::out_of_range, {"dimension 0", "stride 100"}, [] {
    (void)Tensor(kBuffer, DType::float32, {3, 2}, {100, 1});
  });
  expect_fails(Code::out_of_range, {"elements -1 to"}, [] { (void)Tensor(kBuffer, DType::uint8, {2}, {-1}); });
  EXPECT_NO_THROW((void)Tensor(kBuffer, DType::uint8, {2}, {-1}, 1));
  expect_fails(Code::invalid_argument, {"dimension 1", "0 elements"}, [] {
    (void)Tensor(kBuffer, DType::uint8, {2, 0});
  });
  expect_fails(Code::invalid_argument, {"dimension 0", "-3"}, [] { (void)Tensor(kBuffer, DType::uint8, {-3}); });
  expect_fails(Code::invalid_argument, {"at most 5", "6"}, [] {
    (void)Tensor(kBuffer, DType::uint8, {1, 1, 1, 1, 1, 1});
  });
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  expect_fails(Code::invalid_argument, {"more elements", "dimension 0"}, [] {
    (void)Tensor(kBuffer, DType::uint8, {kHuge, kHuge});
  });
  expect_fails(Code::invalid_argument, {"more elements"}, [] {
    (void)Tensor(kBuffer, DType::uint8, {kHuge, kHuge}, {0, 0});
  });
  expect_fails(Code::out_of_range, {"dimension 0", "64 bits"},
               [] { (void)Tensor(kBuffer, DType::uint8, {kHuge}, {kHuge}); });
  expect_fails(Code::invalid_argument, {"2 dimensions", "1 strides"}, [] {
    (void)Tensor(kBuffer, DType::uint8, {2, 2}, {1});
  });
}

TEST(Tensor, RefusesViewsOutsideOfIt) {
  const Tensor matrix(kBuffer, DType::float32, {6, 20});
  expect_fails(Code::out_of_range, {"[2, 7)", "dimension 0", "6"}, [&] { (void)matrix.slice(2, 7); });
  expect_fails(Code::out_of_range, {"[3, 3)", "at least one"}, [&] { (void)matrix.slice(3, 3); });
  expect_fails(Code::out_of_range, {"[-1, 2)"}, [&] { (void)matrix.slice_dim(1, -1, 2); });
  expect_fails(Code::invalid_argument, {"step 0"}, [&] { (void)matrix.slice(0, 2, 0); });
  expect_fails(Code::out_of_range, {"dimension 2", "has 2"}, [&] { (void)matrix.slice_dim(2, 0, 1); });
  expect_fails(Code::out_of_range, {"element 20", "dimension 1"}, [&] { (void)matrix.select(1, 20); });
  expect_fails(Code::invalid_argument, {"twice"}, [&] { (void)matrix.permute({1, 1}); });
  expect_fails(Code::invalid_argument, {"3 dimensions"}, [&] { (void)matrix.permute({0, 1, 2}); });
  EXPECT_EQ(matrix.slice(5, 6, std::numeric_limits<std::int64_t>::max()).extent(0), 1);
}

TEST(Tensor, TokensAreTheSameIfTheirNumbersAre) {
  EXPECT_TRUE(graph::view_of(Tensor::token(7)).same_bytes(graph::view_of(Tensor::token(7))));
  EXPECT_FALSE(graph::view_of(Tensor::token(7)).same_bytes(graph::view_of(Tensor::token(8))));
}

}  // namespace
}  // namespace baton
