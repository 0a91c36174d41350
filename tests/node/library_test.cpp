// Kernels that are compiled at run time, on chips that run the program for nodes which are no C++ programs.
#include <baton/kernel_source.hpp>

#include "node_fixture.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

constexpr const char* kSource = R"(
#include <baton_kernel.hpp>

BATON_KERNEL(three_times, baton::In<float> x, baton::Out<float> y) {
  for (int64_t i = 0; i < y.size(); ++i) y.data()[i] = 3 * x.data()[i];
}
)";

class NodeLibrary : public testing::TestWithParam<NodeShape> {
 protected:
  static WorkerOptions options() {
    WorkerOptions options = node_options(GetParam());
    options.chip_program = NODE_TEST_CHIP_PROGRAM;
    return options;
  }
  static std::string compiled() {
    return KernelFile::compile({.source = "three_times.cpp", .text = kSource, .platform = node_platform()}).path();
  }
  Worker worker{options()};
  std::string library = compiled();
};

const std::vector<NodeShape> kShapes = {{Isolation::processes, 2}, {Isolation::inproc, 2}};
INSTANTIATE_TEST_SUITE_P(, NodeLibrary, testing::ValuesIn(possible(kShapes)),
                         [](const auto& shape) { return name_of(shape.param); });

TEST_P(NodeLibrary, KernelsAreLoadedByTheChips) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const Tensor y = worker.create_buffer(DType::float32, {2, 4});
  for (int i = 0; i < 4; ++i) floats(x)[i] = static_cast<float>(i);
  worker.run([&](Orchestration& o) {
    const Callable three_times = Callable::in_library(library, "three_times");
    for (int chip = 0; chip < 2; ++chip) {
      o.submit_next_level(
          three_times, TaskArgs().add_tensor(x, TensorArgType::input).add_tensor(y.index(chip), TensorArgType::output),
          chip);
    }
  });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(floats(y)[i], 3.0F * static_cast<float>(i % 4));
}

TEST_P(NodeLibrary, WhatIsMissingIsToldByName) {
  const Tensor x = worker.create_buffer(DType::float32, {4});
  const auto run = [&](const Callable& callable) {
    worker.run(
        [&](Orchestration& o) { o.submit_next_level(callable, TaskArgs().add_tensor(x, TensorArgType::inout), 1); });
  };
  require_error(Code::not_a_kernel, {"four_times", "three_times", "on chip 1"},
                [&] { run(Callable::in_library(library, "four_times")); });
  EXPECT_THROW(run(Callable::in_library("/nonexistent/library.so", "any")), Error);
  // One tensor too few.
  require_error(Code::invalid_argument, {"three_times", "library_test.cpp"},
                [&] { run(Callable::in_library(library, "three_times")); });
}

}  // namespace
}  // namespace baton::test
