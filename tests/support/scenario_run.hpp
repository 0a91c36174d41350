// Running a scenario from a test.
#pragma once

#include <gtest/gtest.h>

#include "support/scenario.hpp"

namespace baton::test {

/// Runs `scenario` with `size` ranks and waits for its end. Succeeds if every rank did, in time, and nothing is left.
[[nodiscard]] testing::AssertionResult run_scenario(const Scenario& scenario, Hosting hosting, int size);

/// The tokens that the processes of a job told of.
[[nodiscard]] std::vector<std::string> tokens_in(const std::string& output);

}  // namespace baton::test
