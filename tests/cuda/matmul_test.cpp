// Matrix products of platform cuda, on tensor cores where they can be, beside exact ones.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include <pto/common/bfloat16.hpp>

#include "gpu_here.hpp"

template <>
struct baton::detail::DTypeOf<bfloat16_t> {
  static constexpr DType kValue = DType::bfloat16;
};
template <>
struct baton::detail::DTypeOf<half> {
  static constexpr DType kValue = DType::float16;
};

namespace {

using baton::Chip;
using baton::Graph;
using baton::Tensor;
using baton::test::missing_gpu;

/// A type of factors, as kernels and tensors know it.
struct Bfloat16 {
  using Element = bfloat16_t;
  static constexpr const char* kName = "bfloat16_t";
  static constexpr baton::DType kType = baton::DType::bfloat16;
  static constexpr double kEpsilon = 1.0 / 256;  // half the distance between neighbours of 1
};
struct Half {
  using Element = half;
  static constexpr const char* kName = "half";
  static constexpr baton::DType kType = baton::DType::float16;
  static constexpr double kEpsilon = 1.0 / 2048;
};

/// Of a sum of float products on tensor cores, relative to the sum of their magnitudes.
constexpr double kSumTolerance = 1.0 / (1 << 18);

template <typename Type>
const baton::Kernel& kernel(const std::string& source, const char* name, const std::string& platform = "cuda") {
  static std::map<std::string, baton::KernelFile> files;
  static std::map<std::string, baton::LoadedKernel> loaded;
  auto file = files.find(source + platform);
  if (file == files.end()) {
    file = files
               .emplace(source + platform,
                        baton::KernelFile::compile({.source = source,
                                                    .core = BATON_CORE_CUBE,
                                                    .platform = platform,
                                                    .defines = {std::string("ELEMENT=") + Type::kName}}))
               .first;
  }
  return loaded.try_emplace(source + platform + name, file->second.kernel(name)).first->second.get();
}

struct Matrix {
  std::int64_t rows;
  std::int64_t cols;
  std::vector<float> values;
  [[nodiscard]] double at(std::int64_t row, std::int64_t col) const {
    return values[static_cast<std::size_t>(row * cols + col)];
  }
};

/// Numbers that `Element` holds.
template <typename Element>
Matrix random_matrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> any(-2, 2);
  Matrix made{rows, cols, std::vector<float>(static_cast<std::size_t>(rows * cols))};
  for (float& value : made.values) value = static_cast<float>(static_cast<Element>(any(generator)));
  return made;
}

/// On the chip, with another pitch than its columns if it is a part of a larger one.
template <typename Type>
Tensor tensor_of(Chip& chip, const Matrix& matrix, const char* name) {
  const Tensor made = chip.alloc(Type::kType, {matrix.rows, matrix.cols}, name);
  std::vector<typename Type::Element> elements;
  for (const float value : matrix.values) elements.push_back(static_cast<typename Type::Element>(value));
  chip.copy_in<typename Type::Element>(made, elements);
  return made;
}

Matrix transposed(const Matrix& matrix) {
  Matrix out{matrix.cols, matrix.rows, std::vector<float>(matrix.values.size())};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t col = 0; col < matrix.cols; ++col) {
      out.values[static_cast<std::size_t>(col * matrix.rows + row)] = static_cast<float>(matrix.at(row, col));
    }
  }
  return out;
}

/// rows x depth x cols elements of left and right, from these places on.
struct Part {
  std::int64_t rows;
  std::int64_t depth;
  std::int64_t cols;
  std::int64_t left_row = 0;
  std::int64_t left_col = 0;
  std::int64_t right_row = 0;
  std::int64_t right_col = 0;
};

/// An element of a product and the sum of the magnitudes that were added.
struct Exact {
  double value = 0;
  double magnitude = 0;
};
Exact exact(const Matrix& left, const Matrix& right, const Part& part, std::int64_t row, std::int64_t col) {
  Exact out;
  for (std::int64_t k = 0; k < part.depth; ++k) {
    const double one =
        left.at(part.left_row + row, part.left_col + k) * right.at(part.right_row + k, part.right_col + col);
    out.value += one;
    out.magnitude += std::abs(one);
  }
  return out;
}

baton::Argument in(const Tensor& tensor) { return {baton::Access::in, tensor}; }
baton::Argument out(const Tensor& tensor) { return {baton::Access::out, tensor}; }

template <typename Type>
class Products : public testing::Test {
 protected:
  /// The largest error of what a kernel stores, relative to what it may be: 1.
  static double worst_of_matmul(const std::string& platform, const char* name, std::int64_t rows, std::int64_t depth,
                                std::int64_t cols, std::uint32_t blocks) {
    using Element = typename Type::Element;
    const bool by_columns = std::string(name) == "matmul_by_columns";
    const Matrix left = random_matrix<Element>(rows, depth, 1);
    const Matrix right = random_matrix<Element>(depth, cols, 2);
    Chip chip({.platform = platform});
    const Tensor a = tensor_of<Type>(chip, left, "a");
    const Tensor b = tensor_of<Type>(chip, by_columns ? transposed(right) : right, "b");
    const Tensor c = chip.alloc(Type::kType, {rows, cols}, "c");
    chip.run([&](Graph& graph) {
      graph.submit(kernel<Type>(CUDA_MATMUL_KERNELS, name, platform), {in(a), in(b), out(c)}, {.blocks = blocks});
    });
    std::vector<Element> result(static_cast<std::size_t>(rows * cols));
    chip.copy_out<Element>(c, result);
    const Part all{rows, depth, cols};
    // All elements of small ones; of others as many, spread.
    constexpr std::int64_t kMost = 20'000;
    const std::int64_t step = std::max<std::int64_t>(1, rows * cols / kMost) | 1;
    double worst = 0;
    for (std::int64_t i = 0; i < rows * cols; i += step) {
      const Exact expected = exact(left, right, all, i / cols, i % cols);
      const double got = static_cast<float>(result[static_cast<std::size_t>(i)]);
      const double may = kSumTolerance * expected.magnitude + Type::kEpsilon * std::abs(expected.value);
      const double error = std::abs(got - expected.value) / may;
      worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    return worst;
  }
};

using Types = testing::Types<Bfloat16, Half>;
TYPED_TEST_SUITE(Products, Types);

/// The kernels are right where every element is calculated as it is written.
TYPED_TEST(Products, OnASimulatedChipAreAsExactAsTheirSums) {
  for (const char* name : {"matmul_by_rows", "matmul_by_columns"}) {
    EXPECT_LE(TestFixture::worst_of_matmul("a2a3sim", name, 128, 512, 256, 1), 1);
    EXPECT_LE(TestFixture::worst_of_matmul("a2a3sim", name, 129, 365, 513, 3), 1);
  }
}

TYPED_TEST(Products, OfEveryShapeAreAsExactAsTheirSums) {
  if (missing_gpu()) GTEST_SKIP() << *missing_gpu();
  struct Shape {
    std::int64_t rows, depth, cols;
    std::uint32_t blocks;
  };
  for (const char* name : {"matmul_by_rows", "matmul_by_columns"}) {
    for (const Shape& shape :
         {Shape{128, 64, 256, 1}, Shape{128, 512, 256, 1}, Shape{256, 256, 512, 3}, Shape{1024, 1024, 1024, 16},
          Shape{16, 16, 16, 1}, Shape{1, 8, 8, 1}, Shape{64, 64, 128, 1}, Shape{40, 200, 136, 2},
          Shape{200, 72, 520, 2}, Shape{129, 65, 257, 3}, Shape{33, 17, 15, 1}, Shape{300, 1000, 264, 4}}) {
      const double worst =
          TestFixture::worst_of_matmul("cuda", name, shape.rows, shape.depth, shape.cols, shape.blocks);
      EXPECT_LE(worst, 1) << name << " " << shape.rows << " x " << shape.depth << " x " << shape.cols;
      std::printf("%s %s %d x %d x %d: %.3f of the tolerance\n", TypeParam::kName, name, static_cast<int>(shape.rows),
                  static_cast<int>(shape.depth), static_cast<int>(shape.cols), worst);
    }
  }
}

/// A kernel that uses tiles in unusual ways, and the sizes of its matrices.
struct Unusual {
  const char* kernel;
  std::int64_t a_rows, a_cols, b_rows, b_cols, rows, cols;
};
constexpr Unusual kUnusual[] = {
    {"load_again", 128, 64, 64, 64, 128, 64},    {"sum_in_turns", 128, 64, 64, 64, 128, 64},
    {"multiply_parts", 128, 96, 96, 80, 64, 32}, {"add_bias", 64, 64, 64, 64, 64, 64},
    {"multiply_twice", 64, 64, 64, 64, 64, 64},  {"multiply_some", 256, 64, 64, 128, 256, 128},
    {"multiply_some", 200, 40, 40, 72, 200, 72}, {"multiply_some", 1, 64, 64, 8, 1, 8},
    {"multiply_some", 77, 24, 24, 104, 77, 104}, {"multiply_some", 130, 33, 33, 9, 130, 9},
};

/// What it stores on a chip of this platform.
template <typename Type>
std::vector<float> result_on(const std::string& platform, const Unusual& test, const baton::Kernel& run) {
  using Element = typename Type::Element;
  Chip chip({.platform = platform});
  const Tensor a = tensor_of<Type>(chip, random_matrix<Element>(test.a_rows, test.a_cols, 3), "a");
  const Tensor b = tensor_of<Type>(chip, random_matrix<Element>(test.b_rows, test.b_cols, 4), "b");
  const Tensor bias = chip.alloc<float>({test.cols}, "bias");
  const Tensor c = chip.alloc<float>({test.rows, test.cols}, "c");
  std::vector<float> added(static_cast<std::size_t>(test.cols));
  for (std::size_t i = 0; i < added.size(); ++i) added[i] = static_cast<float>(i) / 8;
  chip.copy_in<float>(bias, added);
  chip.run([&](Graph& graph) {
    if (std::string(test.kernel) == "add_bias") {
      graph.submit(run, {in(a), in(b), in(bias), out(c)});
    } else {
      graph.submit(run, {in(a), in(b), out(c)});
    }
  });
  std::vector<float> result(static_cast<std::size_t>(test.rows * test.cols));
  chip.copy_out<float>(c, result);
  return result;
}

TYPED_TEST(Products, OfTilesInUnusualPlacesRunOnASimulatedChip) {
  for (const Unusual& test : kUnusual) {
    const auto result =
        result_on<TypeParam>("a2a3sim", test, kernel<TypeParam>(CUDA_MATRIX_KERNELS, test.kernel, "a2a3sim"));
    EXPECT_TRUE(std::ranges::any_of(result, [](float value) { return value != 0; })) << test.kernel;
  }
}

TYPED_TEST(Products, OfTilesInUnusualPlacesAreThoseOfASimulatedChip) {
  if (missing_gpu()) GTEST_SKIP() << *missing_gpu();
  for (const Unusual& test : kUnusual) {
    const baton::Kernel& run = kernel<TypeParam>(CUDA_MATRIX_KERNELS, test.kernel);
    const std::vector<float> gpu = result_on<TypeParam>("cuda", test, run);
    const std::vector<float> host = result_on<TypeParam>("a2a3sim", test, run);
    // Values are at most 2, so no sum of magnitudes is more than this.
    const double most = 4.0 * static_cast<double>(test.a_cols) * 2 + 16;
    // A rounding in the middle may go either way: of numbers of about 10, for a few of 64.
    const double tolerance =
        std::string(test.kernel) == "multiply_twice" ? TypeParam::kEpsilon * 64 : kSumTolerance * most;
    double worst = 0;
    for (std::size_t i = 0; i < gpu.size(); ++i) {
      const double error = std::abs(double{gpu[i]} - double{host[i]});
      worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    EXPECT_LE(worst, tolerance) << test.kernel << " " << test.a_rows << " x " << test.a_cols << " x " << test.b_cols;
    std::printf("%s %s %d x %d x %d: %.2e, may be %.2e\n", TypeParam::kName, test.kernel, static_cast<int>(test.a_rows),
                static_cast<int>(test.a_cols), static_cast<int>(test.b_cols), worst, tolerance);
  }
}

}  // namespace
