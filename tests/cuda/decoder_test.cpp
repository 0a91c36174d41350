// A layer of a decoder: on a GPU, captured and task by task, and on a simulated chip.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>

#include "decoder_layer.hpp"
#include "gpu_here.hpp"

namespace {

using baton::Chip;
using baton::Graph;
using baton::Tensor;
using baton::test::missing_gpu;

constexpr decoder::Size kSize{.hidden = 1024, .inner = 2048};

/// What the tensors of a layer begin with, and what a layer makes of it, in double precision.
class Reference {
 public:
  explicit Reference(const decoder::Layer& layer) {
    unsigned seed = 1;
    for (const Tensor* tensor :
         {&layer.weight, &layer.qkv, &layer.keys, &layer.values, &layer.out, &layer.up, &layer.down, &layer.x}) {
      const bool is_large = tensor == &layer.x || tensor == &layer.weight;
      numbers_.push_back(
          decoder::any_numbers(static_cast<std::size_t>(tensor->element_count()), is_large ? 1.0F : 0.05F, seed++));
      tensors_.push_back(*tensor);
    }
  }
  void send(Chip& chip) const {
    for (std::size_t i = 0; i < tensors_.size(); ++i) chip.copy_in<float>(tensors_[i], numbers_[i]);
  }
  [[nodiscard]] std::vector<double> result() const {
    const std::vector<double> x(numbers_[7].begin(), numbers_[7].end());
    const std::vector<double> projected = product(numbers_[1], norm(x));
    std::vector<double> attended;
    for (std::int64_t head = 0; head < kSize.heads(); ++head) attend(projected, head, attended);
    const std::vector<double> middle = sum(product(numbers_[4], attended), x);
    const std::vector<double> wide = product(numbers_[5], norm(middle));
    std::vector<double> gated;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kSize.inner); ++i) {
      gated.push_back(wide[i] / (1 + std::exp(-wide[i])) * wide[i + static_cast<std::size_t>(kSize.inner)]);
    }
    return sum(product(numbers_[6], gated), middle);
  }

 private:
  static std::vector<double> product(const std::vector<float>& w, const std::vector<double>& x) {
    std::vector<double> y(w.size() / x.size());
    for (std::size_t i = 0; i < w.size(); ++i) y[i / x.size()] += double{w[i]} * x[i % x.size()];
    return y;
  }
  static std::vector<double> sum(std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  [[nodiscard]] std::vector<double> norm(std::vector<double> x) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= scale * double{numbers_[0][i]};
    return x;
  }
  void attend(const std::vector<double>& projected, std::int64_t head, std::vector<double>& out) const {
    const auto first = static_cast<std::size_t>(head);
    std::vector<double> scores(decoder::kContext);
    for (std::size_t t = 0; t < scores.size(); ++t) {
      for (std::size_t i = 0; i < decoder::kHead; ++i) {
        scores[t] += projected[first * decoder::kHead + i] *
                     double{numbers_[2][(first * decoder::kContext + t) * decoder::kHead + i]};
      }
      scores[t] /= std::sqrt(double{decoder::kHead});
    }
    const double largest = *std::ranges::max_element(scores);
    double all = 0;
    for (double& score : scores) all += score = std::exp(score - largest);
    for (std::size_t i = 0; i < decoder::kHead; ++i) {
      double value = 0;
      for (std::size_t t = 0; t < scores.size(); ++t) {
        value += scores[t] / all * double{numbers_[3][(first * decoder::kContext + t) * decoder::kHead + i]};
      }
      out.push_back(value);
    }
  }

  std::vector<std::vector<float>> numbers_;
  std::vector<Tensor> tensors_;
};

class Decoder : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && missing_gpu()) GTEST_SKIP() << *missing_gpu();
  }
};

TEST_P(Decoder, LayersGiveWhatTheirFormulasSay) {
  const auto file = baton::KernelFile::compile({.source = CUDA_DECODER_KERNELS, .platform = GetParam()});
  Chip chip({.platform = GetParam()});
  const decoder::Layer layer(chip, file, kSize);
  const Reference reference(layer);
  const std::vector<double> expected = reference.result();
  const auto expect_result = [&](const char* how) {
    std::vector<float> found(expected.size());
    chip.copy_out<float>(layer.x, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << how << " " << i;
    }
  };
  const auto submit = [&](Graph& graph) { layer.submit(graph); };
  baton::CapturedGraph captured = chip.capture(submit);
  reference.send(chip);
  chip.run(captured);
  expect_result("captured");
  reference.send(chip);
  chip.run(submit);
  expect_result("task by task");
}

INSTANTIATE_TEST_SUITE_P(Platforms, Decoder, testing::Values("a2a3sim", "cuda"),
                         [](const auto& one) { return one.param; });

}  // namespace
