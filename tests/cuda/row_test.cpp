// Softmax, layer norm and extremes of rows: on a GPU, and on a simulated chip.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>

#include "gpu_here.hpp"

#include <pto/instructions/reduce_row.hpp>

namespace {

using baton::Access;
using baton::Chip;
using baton::Graph;
using baton::Tensor;
using baton::test::missing_gpu;

constexpr std::int64_t kCols = 1024;
constexpr std::int64_t kRows = 8 * 67;

const baton::Kernel& kernel(const std::string& platform, const char* name) {
  static std::map<std::string, baton::KernelFile> files;
  static std::map<std::string, baton::LoadedKernel> loaded;
  auto file = files.find(platform);
  if (file == files.end()) {
    file =
        files.emplace(platform, baton::KernelFile::compile({.source = CUDA_ROW_KERNELS, .platform = platform})).first;
  }
  return loaded.try_emplace(platform + name, file->second.kernel(name)).first->second.get();
}

class Rows : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && missing_gpu()) GTEST_SKIP() << *missing_gpu();
    std::mt19937 generator(11);
    std::uniform_real_distribution<float> any(-8, 8);
    for (float& value : values_) value = any(generator);
  }
  [[nodiscard]] std::vector<float> run(const char* name) {
    Chip chip({.platform = GetParam()});
    const Tensor x = chip.alloc<float>({kRows, kCols}, "x");
    const Tensor y = chip.alloc<float>({kRows, kCols}, "y");
    chip.copy_in<float>(x, values_);
    chip.run([&](Graph& graph) {
      graph.submit(kernel(GetParam(), name), {{Access::in, x}, {Access::out, y}}, {.blocks = 5});
    });
    std::vector<float> result(values_.size());
    chip.copy_out<float>(y, result);
    return result;
  }
  std::vector<float> values_ = std::vector<float>(kRows * kCols);
};

TEST_P(Rows, SoftmaxIsAsCloseAsFloatsAre) {
  const std::vector<float> found = run("softmax_rows");
  for (std::size_t row = 0; row < std::size_t{kRows}; ++row) {
    const float* x = values_.data() + row * kCols;
    double sum = 0;
    for (std::size_t i = 0; i < kCols; ++i) sum += std::exp(static_cast<double>(x[i]));
    for (std::size_t i = 0; i < kCols; ++i) {
      const double expected = std::exp(static_cast<double>(x[i])) / sum;
      ASSERT_NEAR(found[row * kCols + i], expected, 2e-5 * expected + 1e-9) << row << ", " << i;
    }
  }
}

TEST_P(Rows, LayerNormIsAsCloseAsFloatsAre) {
  const std::vector<float> found = run("layer_norm_rows");
  for (std::size_t row = 0; row < std::size_t{kRows}; ++row) {
    const float* x = values_.data() + row * kCols;
    double mean = 0;
    for (std::size_t i = 0; i < kCols; ++i) mean += x[i];
    mean /= kCols;
    double variance = 0;
    for (std::size_t i = 0; i < kCols; ++i) variance += (x[i] - mean) * (x[i] - mean);
    variance /= kCols;
    for (std::size_t i = 0; i < kCols; ++i) {
      ASSERT_NEAR(found[row * kCols + i], (x[i] - mean) / std::sqrt(variance + 1e-5), 2e-5) << row << ", " << i;
    }
  }
}

/// One of many NaNs.
float nan_with(std::uint32_t payload) { return std::bit_cast<float>(0x7fc00000u | payload); }

/// Rows in which an order decides which bits come out: zeros of both signs, several NaNs.
void make_unusual(std::vector<float>& values) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto row = [&](std::size_t number) { return values.begin() + static_cast<std::ptrdiff_t>(number * kCols); };
  std::fill_n(row(0), kCols, 0.0F);
  std::fill_n(row(1), kCols, -0.0F);
  for (std::size_t i = 0; i < kCols; ++i) {
    const float zero = i % 3 == 0 ? 0.0F : -0.0F;
    row(2)[static_cast<std::ptrdiff_t>(i)] = zero;
    row(3)[static_cast<std::ptrdiff_t>(i)] = i % 5 == 0 ? zero : -1.5F;
    row(4)[static_cast<std::ptrdiff_t>(i)] = i % 7 == 0 ? zero : 1.5F;
  }
  row(5)[1000] = nan_with(3);
  row(5)[17] = nan_with(5);
  row(6)[999] = nan_with(7);
  std::fill_n(row(7), kCols, nan_with(9));
  row(8)[5] = kInfinity;
  row(9)[5] = -kInfinity;
  row(10)[5] = kInfinity;
  row(10)[900] = nan_with(11);
  row(kRows - 1)[kCols - 1] = nan_with(13);
}

/// Each row has, all over it, the bits that `operation` makes of it.
template <typename Operation>
void expect_extremes(const std::vector<float>& values, const std::vector<float>& found, Operation operation) {
  for (std::size_t row = 0; row < std::size_t{kRows}; ++row) {
    const auto expected =
        std::bit_cast<std::uint32_t>(baton::kernel::reduce_row(operation, values.data() + row * kCols, kCols));
    for (std::size_t i = 0; i < kCols; i += kCols - 1) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found[row * kCols + i]), expected) << row << ", " << i;
    }
  }
}

TEST_P(Rows, ExtremesHaveTheSameBitsWhateverIsInARow) {
  make_unusual(values_);
  expect_extremes(values_, run("largest_of_rows"), baton::kernel::LargerNumber{});
  expect_extremes(values_, run("smallest_of_rows"), baton::kernel::SmallerNumber{});
}

INSTANTIATE_TEST_SUITE_P(Of, Rows, testing::Values("a2a3sim", "cuda"), [](const auto& of) { return of.param; });

}  // namespace
