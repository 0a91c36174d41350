// Layers of a decoder as a graph: of tests, and of bench/cuda.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>

#include "decoder_sizes.hpp"

namespace decoder {

/// Multiples of kChunk.
struct Size {
  std::int64_t hidden;
  std::int64_t inner;  // of the MLP
  [[nodiscard]] std::int64_t heads() const { return hidden / kHead; }
};

/// One layer whose weights all layers share, and what goes through it.
class Layer {
 public:
  Layer(baton::Chip& chip, const baton::KernelFile& file, Size size)
      : size_(size),
        blocks_(static_cast<std::uint32_t>(chip.cube_cores() + chip.vector_cores())),
        norm_(file.kernel("norm")),
        project_(file.kernel("project")),
        project_and_add_(file.kernel("project_and_add")),
        attend_(file.kernel("attend")),
        gate_(file.kernel("gate")),
        weight(matrix(chip, size.hidden / kChunk, kChunk, "weight")),
        qkv(matrix(chip, 3 * size.hidden, size.hidden, "qkv")),
        keys(matrix(chip, size.heads() * kContext, kHead, "keys")),
        values(matrix(chip, size.heads() * kContext, kHead, "values")),
        out(matrix(chip, size.hidden, size.hidden, "out")),
        up(matrix(chip, 2 * size.inner, size.hidden, "up")),
        down(matrix(chip, size.hidden, size.inner, "down")),
        x(vector(chip, size.hidden, "x")),
        normed_(vector(chip, size.hidden, "normed")),
        projected_(vector(chip, 3 * size.hidden, "projected")),
        attended_(vector(chip, size.hidden, "attended")),
        middle_(vector(chip, size.hidden, "middle")),
        wide_(vector(chip, 2 * size.inner, "wide")),
        gated_(vector(chip, size.inner, "gated")) {}

  /// x becomes what the layer makes of it. Eight tasks.
  void submit(baton::Graph& graph) const {
    using baton::Access;
    const baton::TaskOptions all{.blocks = blocks_};
    const auto norm = [&](const baton::Tensor& from) {
      graph.submit(norm_.get(), {{Access::in, lines(from)}, {Access::in, weight}, {Access::out, lines(normed_)}});
    };
    norm(x);
    graph.submit(project_.get(), {{Access::in, qkv}, {Access::in, normed_}, {Access::out, projected_}}, all);
    graph.submit(attend_.get(),
                 {{Access::in, projected_}, {Access::in, keys}, {Access::in, values}, {Access::out, attended_}},
                 {.blocks = static_cast<std::uint32_t>(size_.heads())});
    graph.submit(project_and_add_.get(),
                 {{Access::in, out}, {Access::in, attended_}, {Access::in, x}, {Access::out, middle_}}, all);
    norm(middle_);
    graph.submit(project_.get(), {{Access::in, up}, {Access::in, normed_}, {Access::out, wide_}}, all);
    graph.submit(gate_.get(), {{Access::in, wide_}, {Access::out, gated_}},
                 {.blocks = static_cast<std::uint32_t>(size_.inner / kChunk)});
    graph.submit(project_and_add_.get(),
                 {{Access::in, down}, {Access::in, gated_}, {Access::in, middle_}, {Access::out, x}}, all);
  }
  [[nodiscard]] const Size& size() const { return size_; }

 private:
  Size size_;
  std::uint32_t blocks_;
  baton::LoadedKernel norm_;
  baton::LoadedKernel project_;
  baton::LoadedKernel project_and_add_;
  baton::LoadedKernel attend_;
  baton::LoadedKernel gate_;

  static baton::Tensor matrix(baton::Chip& chip, std::int64_t rows, std::int64_t cols, const std::string& name) {
    return chip.alloc<float>({rows, cols}, name);
  }
  static baton::Tensor vector(baton::Chip& chip, std::int64_t count, const std::string& name) {
    return chip.alloc<float>({count}, name);
  }
  static baton::Tensor lines(const baton::Tensor& vector) {
    return vector.reshape({vector.element_count() / kChunk, kChunk});
  }

 public:
  const baton::Tensor weight;
  const baton::Tensor qkv;
  const baton::Tensor keys;
  const baton::Tensor values;
  const baton::Tensor out;
  const baton::Tensor up;
  const baton::Tensor down;
  const baton::Tensor x;

 private:
  baton::Tensor normed_;
  baton::Tensor projected_;
  baton::Tensor attended_;
  baton::Tensor middle_;
  baton::Tensor wide_;
  baton::Tensor gated_;
};

/// Small numbers, so that a sum of thousands of products is about 1.
inline std::vector<float> any_numbers(std::size_t count, float largest, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> any(-largest, largest);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = any(generator);
  return numbers;
}

}  // namespace decoder
