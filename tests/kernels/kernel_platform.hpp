// Which platform the chips of these scenarios have. Each program is linked with a file that says so.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>

#include "support/scenario.hpp"

namespace baton::test {

/// The chip of a rank.
[[nodiscard]] ChipOptions chip_of(int rank);
/// How its kernels are compiled.
[[nodiscard]] KernelSource for_chip(KernelSource source);
/// The kernel, by the name under which it is submitted.
[[nodiscard]] Kernel named(const LoadedKernel& kernel, const char* name);

/// Which ranks there can be, and in which numbers a scenario with these wishes runs.
[[nodiscard]] std::vector<Hosting> possible_hostings();
[[nodiscard]] std::vector<int> possible_sizes(const Wishes& wishes, Hosting hosting);
/// Runs the scenario, and looks at what chips have left behind.
[[nodiscard]] testing::AssertionResult run_on_chips(const Scenario& scenario, Hosting hosting, int size);

}  // namespace baton::test
