// Ranks whose chips are parts of one GPU, for the scenarios of tests/kernels.
#include <algorithm>

#include "kernel_platform.hpp"
#include "support/scenario_run.hpp"

#include "gpu_here.hpp"

namespace baton::test {
namespace {

/// As many as the largest scenario has ranks: a part is the same whatever the scenario.
constexpr int kParts = 16;

}  // namespace

ChipOptions chip_of(int rank) { return {.platform = "cuda", .device = rank, .device_count = kParts}; }

KernelSource for_chip(KernelSource source) {
  source.platform = "cuda";
  return source;
}

/// A chip looks for kernels by their names.
Kernel named(const LoadedKernel& kernel, const char* /*name*/) { return kernel.get(); }

/// Parts of a GPU share a process, and each of them has a thread that waits for its graphs.
std::vector<Hosting> possible_hostings() { return {Hosting::threads}; }

/// The smallest and the largest: each takes a process that links all kernels anew.
std::vector<int> possible_sizes(const Wishes& wishes, Hosting /*hosting*/) {
  const auto [least, most] = std::ranges::minmax(wishes.sizes);
  if (least == most) return {least};
  return {least, std::min(most, kParts)};
}

testing::AssertionResult run_on_chips(const Scenario& scenario, Hosting hosting, int size) {
  if (missing_gpu()) {
    [] { GTEST_SKIP() << *missing_gpu(); }();
    return testing::AssertionSuccess();
  }
  return run_scenario(scenario, hosting, size);
}

}  // namespace baton::test
