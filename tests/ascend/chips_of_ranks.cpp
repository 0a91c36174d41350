// Ranks with Ascend chips, on the stand-in, for the scenarios of tests/kernels.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "kernel_platform.hpp"
#include "support/scenario_run.hpp"

namespace baton::test {
namespace {

constexpr const char* kPlatform = "a2a3";
constexpr int kDevices = 8;  // of the stand-in

}  // namespace

ChipOptions chip_of(int rank) { return {.platform = kPlatform, .device = rank}; }

KernelSource for_chip(KernelSource source) {
  source.platform = kPlatform;
  return source;
}

/// A chip looks for kernels by their names.
Kernel named(const LoadedKernel& kernel, const char* /*name*/) { return kernel.get(); }

/// Chips of one process cannot have windows together.
std::vector<Hosting> possible_hostings() { return {Hosting::processes, Hosting::hosts}; }

/// Where a scenario is for several numbers of ranks: over hosts two of them, on one all between the smallest and the
/// largest, or what the stand-in has.
std::vector<int> possible_sizes(const Wishes& wishes, Hosting hosting) {
  const auto [least, most] = std::ranges::minmax(wishes.sizes);
  if (hosting == Hosting::hosts) return least < 3 && most > 3 ? std::vector<int>{2, 3} : std::vector<int>{least};
  std::vector<int> sizes;
  for (int size = least; size <= std::min(most, kDevices); ++size) sizes.push_back(size);
  return sizes;
}

testing::AssertionResult run_on_chips(const Scenario& scenario, Hosting hosting, int size) {
  const std::string log = testing::TempDir() + fmt::format("standin-{}-{}-{}", ::getpid(), scenario.name, size);
  ::setenv("STANDIN_LOG", log.c_str(), 1);
  testing::AssertionResult result = run_scenario(scenario, hosting, size);
  ::unsetenv("STANDIN_LOG");
  // Each chip has ended its runtime, no rule of the stand-in was broken, and nothing was left behind.
  std::ifstream lines(log);
  int ended = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line == "ended") {
      ++ended;
    } else {
      result = testing::AssertionFailure() << line;
    }
  }
  std::filesystem::remove(log);
  if (ended != size && result) result = testing::AssertionFailure() << ended << " of " << size << " chips have ended";
  return result;
}

}  // namespace baton::test
