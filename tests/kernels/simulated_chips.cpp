#include "kernel_platform.hpp"
#include "support/scenario_run.hpp"

namespace baton::test {

ChipOptions chip_of(int /*rank*/) { return {.platform = "a2a3sim"}; }

KernelSource for_chip(KernelSource source) {
  source.flags = {KERNEL_TEST_FLAGS};
  return source;
}

Kernel named(const LoadedKernel& kernel, const char* name) {
  Kernel copy = kernel.get();
  copy.name = name;
  return copy;
}

std::vector<Hosting> possible_hostings() {
  return {Hosting::threads, Hosting::one_fiber_thread, Hosting::two_fiber_threads, Hosting::processes, Hosting::hosts};
}

std::vector<int> possible_sizes(const Wishes& wishes, Hosting /*hosting*/) { return wishes.sizes; }

testing::AssertionResult run_on_chips(const Scenario& scenario, Hosting hosting, int size) {
  return run_scenario(scenario, hosting, size);
}

}  // namespace baton::test
