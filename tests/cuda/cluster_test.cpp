// Tasks of whole clusters on a GPU: a cube core and two vector cores that run at the same time, and pipes between them.
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "gpu_test.hpp"

namespace {

using baton::Access;
using baton::Chip;
using baton::ClusterTask;
using baton::Graph;
using baton::Tensor;
using baton::test::GpuTest;
using testing::HasSubstr;

const baton::Kernel* kernel(BatonCoreType core, const char* name) {
  static std::map<BatonCoreType, baton::KernelFile> files;
  static std::map<std::string, baton::LoadedKernel> loaded;
  auto file = files.find(core);
  if (file == files.end()) {
    file = files
               .emplace(core,
                        baton::KernelFile::compile({.source = CUDA_CLUSTER_KERNELS, .core = core, .platform = "cuda"}))
               .first;
  }
  return &loaded.try_emplace(name, file->second.kernel(name)).first->second.get();
}
const baton::Kernel* cube(const char* name) { return kernel(BATON_CORE_CUBE, name); }
const baton::Kernel* vector(const char* name) { return kernel(BATON_CORE_VECTOR, name); }

class CudaCluster : public GpuTest {
 protected:
  /// Marks of `blocks` blocks, by block and core.
  static std::vector<std::int32_t> marks_of(Chip& chip, const ClusterTask& kernels, std::uint32_t blocks,
                                            std::int64_t cores) {
    const Tensor marks = chip.alloc<std::int32_t>({3 * std::int64_t{blocks}}, "marks");
    const Tensor arrived = chip.alloc<std::int32_t>({std::int64_t{blocks}}, "arrived");
    chip.run([&](Graph& graph) {
      graph.submit(kernels, {{Access::out, marks}, {Access::inout, arrived}, cores}, {.blocks = blocks});
    });
    std::vector<std::int32_t> result(std::size_t{3} * blocks);
    chip.copy_out<std::int32_t>(marks, result);
    return result;
  }
};

TEST_F(CudaCluster, EachCoreOfEachBlockRunsItsKernelAndTheyRunTogether) {
  for (const int clusters : {0, 1}) {
    Chip chip({.platform = "cuda", .clusters = clusters});
    const ClusterTask all{.cube = cube("cube_marks"), .vector = {vector("vector_marks"), vector("vector_marks")}};
    // More than there are clusters.
    const auto blocks = static_cast<std::uint32_t>(2 * chip.clusters() + 1);
    const std::vector<std::int32_t> marks = marks_of(chip, all, blocks, 3);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      ASSERT_EQ(marks[i], static_cast<std::int32_t>(1000 * blocks + 10 * (i / 3) + i % 3)) << i;
    }
  }
}

TEST_F(CudaCluster, ACoreWithoutAKernelHasNothingToDo) {
  Chip chip({.platform = "cuda"});
  const ClusterTask two{.cube = cube("cube_marks"), .vector = {nullptr, vector("vector_marks")}};
  EXPECT_EQ(marks_of(chip, two, 1, 2), (std::vector<std::int32_t>{1000, 0, 1002}));
}

/// What a task of a cluster that pushes chunks needs.
struct Chunks {
  static constexpr std::int64_t kCount = 5;
  explicit Chunks(Chip& chip)
      : x(chip.alloc<float>({kCount * 16, 64}, "x")),
        unit(chip.alloc<float>({64, 64}, "unit")),
        ring(chip.alloc<float>({2 * 16 * 64}, "ring")),
        out(chip.alloc<float>({kCount * 16, 64}, "out")),
        numbers(kCount * 16 * 64) {
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    std::vector<float> ones(64 * 64);
    for (std::size_t i = 0; i < 64; ++i) ones[i * 64 + i] = 1;
    chip.copy_in<float>(x, numbers);
    chip.copy_in<float>(unit, ones);
  }
  void submit(Graph& graph, const char* popped_by) const {
    const ClusterTask task{.cube = cube("push_chunks"), .vector = {vector(popped_by), vector(popped_by)}};
    graph.submit(task, {{Access::in, x}, {Access::in, unit}, {Access::inout, ring}, {Access::out, out}, kCount});
  }
  Tensor x;
  Tensor unit;
  Tensor ring;
  Tensor out;
  std::vector<float> numbers;
};

TEST_F(CudaCluster, PipesGoBetweenItsCores) {
  Chip chip({.platform = "cuda"});
  const Chunks chunks(chip);
  baton::CapturedGraph graph = chip.capture([&](Graph& g) { chunks.submit(g, "pop_chunks"); });
  for (int run = 0; run < 3; ++run) {
    std::vector<float> found(chunks.numbers.size());
    chip.copy_in<float>(chunks.out, found);
    chip.run(graph);
    chip.copy_out<float>(chunks.out, found);
    EXPECT_EQ(found, chunks.numbers);
  }
}

TEST_F(CudaCluster, ASlotThatNobodyPopsIsAnErrorAndTheChipGoesOn) {
  Chip chip({.platform = "cuda"});
  const Chunks chunks(chip);
  try {
    chip.run([&](Graph& graph) { chunks.submit(graph, "pop_too_few"); });
    FAIL() << "nothing was thrown";
  } catch (const baton::Error& error) {
    EXPECT_EQ(error.code(), baton::Code::invalid_argument) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("has returned, with 1 slots of pipe 1"));
  }
  chip.run([&](Graph& graph) { chunks.submit(graph, "pop_chunks"); });
  std::vector<float> found(chunks.numbers.size());
  chip.copy_out<float>(chunks.out, found);
  EXPECT_EQ(found, chunks.numbers);
}

}  // namespace
