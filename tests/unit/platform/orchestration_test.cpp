// Orchestrations that are compiled at run time.
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>
#include <baton/worker.hpp>

#include "support/require.hpp"

namespace baton::test {
namespace {

using testing::ElementsAre;

constexpr const char* kSource = R"(
#include <baton/orchestration.hpp>
#include <baton_kernel.hpp>

BATON_KERNEL(scale, In<float> x, Out<float> y, float factor) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] = factor * x.data()[i];
}

BATON_ORCHESTRATION(scale_in_halves, graph, args) {
  const baton::Tensor& x = args.tensor(0);
  const baton::Tensor& y = args.tensor(1);
  const int64_t half = x.extent(0) / 2;
  graph.submit(scale, x.slice(0, half), y.slice(0, half), args.scalar<float>(0));
  graph.submit(scale, x.slice(half, 2 * half), y.slice(half, 2 * half), 2 * args.scalar<float>(0));
}
)";

KernelFile compiled() {
  ::setenv("BATON_CACHE_DIR", PLATFORM_TEST_CACHE, 0);
  return KernelFile::compile({.source = "halves.cpp", .text = kSource});
}

TEST(Orchestration, OfALibraryRunsOnAChip) {
  const LoadedOrchestration orchestration = compiled().orchestration("scale_in_halves");
  Chip chip({.clusters = 2});
  const std::vector<Tensor> tensors = {chip.alloc<float>({4}), chip.alloc<float>({4})};
  const std::vector<std::int64_t> scalars = {scalar_slot(10.0F)};
  chip.copy_in<float>(tensors[0], std::vector<float>{1, 2, 3, 4});
  chip.run([&](Graph& graph) { orchestration(graph, ChipArgs(tensors, scalars)); });
  std::vector<float> result(4);
  chip.copy_out<float>(tensors[1], std::span(result));
  EXPECT_THAT(result, ElementsAre(10, 20, 60, 80));
  // What it asks for and does not get is an error with numbers.
  require_error(Code::out_of_range, {"scalar 0", "has 0"},
                [&] { chip.run([&](Graph& graph) { orchestration(graph, ChipArgs(tensors, {})); }); });
}

TEST(Orchestration, OfALibraryRunsOnTheChipsOfANode) {
  const KernelFile file = compiled();
  for (const Isolation isolation : {Isolation::processes, Isolation::inproc}) {
    Worker worker({.devices = {0, 1}, .isolation = isolation, .clusters = 2});
    const Tensor x = worker.create_buffer(DType::float32, {4});
    const Tensor y = worker.create_buffer(DType::float32, {2, 4});
    auto* in = reinterpret_cast<float*>(x.address());
    for (int i = 0; i < 4; ++i) in[i] = static_cast<float>(i + 1);
    worker.run([&](Orchestration& o) {
      const Callable callable = Callable::orchestration_in_library(file.path(), "scale_in_halves");
      for (int chip = 0; chip < 2; ++chip) {
        TaskArgs args;
        args.add_tensor(x, TensorArgType::input)
            .add_tensor(y.index(chip), TensorArgType::output)
            .add_scalar(static_cast<float>(chip + 1));
        o.submit_next_level(callable, args, chip);
      }
    });
    const auto* out = reinterpret_cast<const float*>(y.address());
    EXPECT_THAT(std::vector<float>(out, out + 8), ElementsAre(1, 2, 6, 8, 2, 4, 12, 16));
  }
}

TEST(Orchestration, ThatDoesNotExistIsAnErrorThatListsTheOthers) {
  require_error(Code::not_a_kernel, {"no orchestration", "it has scale_in_halves"},
                [] { static_cast<void>(compiled().orchestration("other")); });
}

}  // namespace
}  // namespace baton::test
