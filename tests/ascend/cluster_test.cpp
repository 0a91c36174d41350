// Tasks of whole clusters: a cube core and two vector cores of one chip, with kernels of several libraries.
#include <numeric>
#include <vector>

#include "ascend_fixture.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;

/// A kernel of cluster_kernels.cpp.
const Kernel& kernel_of(const std::string& platform, BatonCoreType core, const std::string& name) {
  static std::map<std::tuple<std::string, BatonCoreType, std::string>, LoadedKernel> loaded;
  const auto key = std::make_tuple(platform, core, name);
  auto found = loaded.find(key);
  if (found == loaded.end()) {
    const KernelFile file = KernelFile::compile({.source = ASCEND_TEST_CLUSTERS, .core = core, .platform = platform});
    found = loaded.emplace(key, file.kernel(name)).first;
  }
  return found->second.get();
}

class AscendCluster : public Ascend, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Ascend::SetUp();
    standin::set_architecture(platform() == "a5" ? 3510 : 2201);
  }
  static std::string platform() { return GetParam(); }
  static ChipOptions options() {
    return {.platform = ascend_platform(platform()), .output_heap_bytes = std::uint64_t{1} << 20U};
  }
  static const Kernel* cube(const char* name) { return &kernel_of(platform(), BATON_CORE_CUBE, name); }
  static const Kernel* vector(const char* name) { return &kernel_of(platform(), BATON_CORE_VECTOR, name); }

  /// Marks of `blocks` blocks, by block and core.
  static std::vector<std::int32_t> marks_of(Chip& chip, const ClusterTask& kernels, std::uint32_t blocks,
                                            std::int64_t cores) {
    const Tensor marks = chip.alloc<std::int32_t>({3 * std::int64_t{blocks}}, "marks");
    const Tensor arrived = chip.alloc<std::int32_t>({std::int64_t{blocks}}, "arrived");
    chip.run([&](Graph& graph) {
      graph.submit(kernels, {{Access::out, marks}, {Access::inout, arrived}, cores}, {.blocks = blocks});
    });
    std::vector<std::int32_t> result(3 * blocks);
    chip.copy_out<std::int32_t>(marks, result);
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(Both, AscendCluster, testing::Values("a2a3", "a5"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(AscendCluster, EachCoreOfEachBlockRunsItsKernelAndTheyRunTogether) {
  Chip chip(options());
  const ClusterTask all{.cube = cube("mark_and_meet"), .vector = {vector("mark_and_meet"), vector("mark_and_meet")}};
  // More than there are clusters.
  const auto blocks = static_cast<std::uint32_t>(2 * chip.clusters() + 1);
  const std::vector<std::int32_t> marks = marks_of(chip, all, blocks, 3);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    EXPECT_EQ(marks[i], static_cast<std::int32_t>(1000 * blocks + 10 * (i / 3) + i % 3)) << i;
  }
}

TEST_P(AscendCluster, ACoreWithoutAKernelHasNothingToDo) {
  Chip chip(options());
  const ClusterTask two{.cube = cube("mark_and_meet"), .vector = {nullptr, vector("mark_and_meet")}};
  EXPECT_EQ(marks_of(chip, two, 1, 2), (std::vector<std::int32_t>{1000, 0, 1002}));
}

TEST_P(AscendCluster, PipesGoBetweenItsCores) {
  constexpr std::int64_t kChunks = 5;
  Chip chip(options());
  const Tensor x = chip.alloc<float>({kChunks * 16, 64}, "x");
  const Tensor unit = chip.alloc<float>({64, 64}, "unit");
  const Tensor ring = chip.alloc<float>({2 * 16 * 64}, "ring");
  const Tensor out = chip.alloc<float>({kChunks * 16, 64}, "out");
  std::vector<float> numbers(kChunks * 16 * 64);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  std::vector<float> ones(64 * 64);
  for (std::size_t i = 0; i < 64; ++i) ones[i * 64 + i] = 1;
  chip.copy_in<float>(x, numbers);
  chip.copy_in<float>(unit, ones);
  CapturedGraph graph = chip.capture([&](Graph& g) {
    g.submit(ClusterTask{.cube = cube("push_chunks"), .vector = {vector("pop_chunks"), vector("pop_chunks")}},
             {{Access::in, x}, {Access::in, unit}, {Access::inout, ring}, {Access::out, out}, kChunks});
  });
  const Tensor other = chip.alloc<float>({kChunks * 16, 64}, "other");
  chip.run(graph);
  chip.run(graph, {{out, other}});
  for (const Tensor& written : {out, other}) {
    std::vector<float> result(numbers.size());
    chip.copy_out<float>(written, result);
    EXPECT_EQ(result, numbers);
  }
}

TEST_P(AscendCluster, TasksOfOneCoreComeBeforeAndBehind) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  const auto append = [&](BatonCoreType core) { return &ascend_kernel(platform(), core, "append"); };
  chip.run([&](Graph& graph) {
    for (int round = 0; round < 3; ++round) {
      graph.submit(*append(BATON_CORE_VECTOR), {{Access::inout, cell}, std::int64_t{1}});
      graph.submit(ClusterTask{.cube = append(BATON_CORE_CUBE), .vector = {}},
                   {{Access::inout, cell}, std::int64_t{2}});
      graph.submit(*append(BATON_CORE_CUBE), {{Access::inout, cell}, std::int64_t{3}});
      graph.submit(ClusterTask{.cube = nullptr, .vector = {append(BATON_CORE_VECTOR), nullptr}},
                   {{Access::inout, cell}, std::int64_t{4}});
    }
  });
  std::int64_t value = 0;
  chip.copy_out<std::int64_t>(cell, {&value, 1});
  EXPECT_EQ(value, 123'412'341'234);
}

TEST_P(AscendCluster, AKernelForTheOtherKindOfCoreIsRefusedByName) {
  Chip chip(options());
  const ClusterTask wrong{.cube = vector("mark_and_meet"), .vector = {}};
  const Error error = error_of([&] { static_cast<void>(marks_of(chip, wrong, 1, 1)); });
  EXPECT_EQ(error.code(), Code::invalid_argument) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("kernel 'mark_and_meet' has code for vector cores, and a cube core"));
  EXPECT_THAT(error.what(), HasSubstr("--core cube"));
}

TEST_P(AscendCluster, AFailureHasTheNamesOfItsKernels) {
  Chip chip(options());
  const ClusterTask two{.cube = cube("push_chunks"), .vector = {vector("mark_and_meet"), vector("mark_and_meet")}};
  standin::fail_kernel(3, 507015);  // the two that tell addresses come first
  const Error error = error_of([&] { static_cast<void>(marks_of(chip, two, 1, 2)); });
  EXPECT_EQ(error.code(), Code::kernel_fault) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("kernel 'push_chunks+mark_and_meet': "));
  const ClusterTask all{.cube = cube("mark_and_meet"), .vector = {vector("mark_and_meet"), vector("mark_and_meet")}};
  EXPECT_EQ(marks_of(chip, all, 1, 3), (std::vector<std::int32_t>{1000, 1001, 1002}));
}

TEST_P(AscendCluster, OneSourceMayHaveKernelsForBothKindsOfCores) {
  Chip chip(options());
  const KernelFile file = KernelFile::compile({.source = ASCEND_TEST_BOTH_KINDS, .platform = platform()});
  const LoadedKernel on_vector = file.kernel("tell_vector");
  const LoadedKernel on_cube = file.kernel("tell_cube");
  const Tensor told = chip.alloc<std::int32_t>({3}, "told");
  chip.run([&](Graph& graph) {
    graph.submit_arguments(on_vector.get(), std::vector<Argument>{{Access::out, told.slice(0, 1)}});
    graph.submit_arguments(on_cube.get(), std::vector<Argument>{{Access::out, told.slice(1, 2)}});
    graph.submit(ClusterTask{.cube = &on_cube.get(), .vector = {}}, {{Access::out, told.slice(2, 3)}});
  });
  std::vector<std::int32_t> result(3);
  chip.copy_out<std::int32_t>(told, result);
  EXPECT_EQ(result, (std::vector<std::int32_t>{11, 22, 22}));
}

}  // namespace
}  // namespace baton::test
