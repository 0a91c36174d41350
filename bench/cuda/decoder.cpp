// Layers of a decoder that makes one token, of tile kernels: captured, and submitted task by task.
#include <memory>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>

#include "cuda/contenders.hpp"
#include "decoder_layer.hpp"

namespace bench::cuda {
namespace {

/// As in models of eight billion parameters. Numbers are float32.
constexpr decoder::Size kSize{.hidden = 4096, .inner = 14336};

struct Made {
  Made()
      : file(baton::KernelFile::compile({.source = CUDA_DECODER_KERNELS, .platform = "cuda"})),
        chip({.platform = "cuda"}),
        layer(chip, file, kSize) {
    for (const baton::Tensor* tensor :
         {&layer.weight, &layer.qkv, &layer.keys, &layer.values, &layer.out, &layer.up, &layer.down, &layer.x}) {
      const auto count = static_cast<std::size_t>(tensor->element_count());
      chip.copy_in<float>(*tensor, decoder::any_numbers(count, 0.01F, 1));
    }
  }
  baton::KernelFile file;
  baton::Chip chip;
  decoder::Layer layer;
};

}  // namespace

Run decoder_layers(const std::string& method, std::size_t layers) {
  auto made = std::make_shared<Made>();
  const auto submit = [made, layers](baton::Graph& graph) {
    for (std::size_t i = 0; i < layers; ++i) made->layer.submit(graph);
  };
  if (method == "streamed") return [made, submit] { made->chip.run(submit); };
  auto captured = std::make_shared<baton::CapturedGraph>(made->chip.capture(submit));
  return [made, captured] { made->chip.run(*captured); };
}

}  // namespace bench::cuda
