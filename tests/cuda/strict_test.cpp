// Strict pipes on a GPU: what a kernel forgets is found as on a simulated chip, and said in the same words.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "../unit/chip/order_kernels.hpp"
#include "gpu_test.hpp"

namespace {

using baton::Access;
using baton::Chip;
using baton::Code;
using baton::Graph;
using baton::Tensor;
using baton::test::GpuTest;
using testing::HasSubstr;

/// Before anybody asks for the options of this process: for kernels of a GPU, and for simulated cores.
const int kStrictPipes = ::setenv("BATON_PIPES", "strict", 1);

constexpr std::int64_t kFloats = 16 * 64;

class CudaStrict : public GpuTest {};

/// What became of a kernel of order_kernels.cpp: its code, and the text from the instruction on.
struct Verdict {
  Code code = Code::ok;
  std::string text{};
  friend bool operator==(const Verdict&, const Verdict&) = default;
};
std::ostream& operator<<(std::ostream& to, const Verdict& verdict) { return to << verdict.text; }

Verdict verdict_of(Chip& chip, const baton::Kernel& kernel, const std::vector<Tensor>& tensors, Forget forget) {
  try {
    chip.run([&](Graph& graph) {
      std::vector<baton::Argument> arguments;
      for (const Tensor& tensor : tensors) arguments.emplace_back(Access::inout, tensor);
      arguments.emplace_back(static_cast<std::int64_t>(forget));
      graph.submit_arguments(kernel, arguments);
    });
  } catch (const baton::Error& error) {
    const std::string text = error.message();
    const std::size_t from = text.find(": ");
    return {error.code(), from == std::string::npos ? text : text.substr(from)};
  }
  return {};
}

/// On a chip of that platform; with a GPU with cores that stay, or not.
std::vector<Verdict> verdicts(const std::string& platform, const char* name, BatonCoreType core, std::size_t tensors,
                              const std::vector<Forget>& forgotten) {
  const baton::KernelFile file =
      baton::KernelFile::compile({.source = CUDA_ORDER_KERNELS, .core = core, .platform = platform});
  const baton::LoadedKernel kernel = file.kernel(name);
  Chip chip({.platform = platform});
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < tensors; ++i) given.push_back(chip.alloc<float>({kFloats}, "t" + std::to_string(i)));
  std::vector<Verdict> found;
  for (const Forget forget : forgotten) found.push_back(verdict_of(chip, kernel.get(), given, forget));
  return found;
}

void expect_the_same(const char* name, BatonCoreType core, std::size_t tensors, const std::vector<Forget>& right,
                     const std::vector<Forget>& wrong) {
  std::vector<Forget> all = right;
  all.insert(all.end(), wrong.begin(), wrong.end());
  const std::vector<Verdict> expected = verdicts("a2a3sim", name, core, tensors, all);
  const std::vector<Verdict> found = verdicts("cuda", name, core, tensors, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(expected[i].code, i < right.size() ? Code::ok : Code::pipe_order) << expected[i];
    EXPECT_EQ(found[i], expected[i]) << name << " " << static_cast<int>(all[i]);
  }
}

TEST_F(CudaStrict, FindsWhatAPipelineForgets) {
  expect_the_same("pipeline_kernel", BATON_CORE_VECTOR, 2, {Forget::nothing, Forget::transitive},
                  {Forget::load_before_add, Forget::add_before_next_load, Forget::add_before_store,
                   Forget::store_before_next_add, Forget::store_before_load});
}

TEST_F(CudaStrict, KnowsInstructionsThatSelect) {
  expect_the_same("selecting_kernel", BATON_CORE_VECTOR, 2, {Forget::nothing},
                  {Forget::count_before_gather, Forget::gather_before_store, Forget::scatter_before_load});
}

TEST_F(CudaStrict, HoldsOnCubeCores) {
  expect_the_same("matmul_kernel", BATON_CORE_CUBE, 3, {Forget::nothing},
                  {Forget::load_before_move, Forget::move_before_matmul, Forget::matmul_before_store});
}

}  // namespace
