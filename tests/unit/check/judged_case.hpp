// A program and whether it has a race, as a case of a test.
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "program.hpp"

namespace baton::check::test {

enum class Verdict { clean, racy };

struct Case {
  const char* name;
  Actor actors;
  Verdict verdict;
  std::function<void(Program&)> write;
};

// Memories and signals by number. `x` is what is handed over.
inline constexpr std::uint64_t x = 0;
inline constexpr std::uint64_t y = 1;
inline constexpr std::uint64_t z = 2;

/// Fails unless the program and what is found in its runs say what the case does.
inline void expect_judged_rightly(const Case& tested) {
  Program program(tested.actors);
  tested.write(program);
  const bool is_racy = tested.verdict == Verdict::racy;
  EXPECT_EQ(!program.races().empty(), is_racy) << "the case itself is wrong:\n" << program.text();
  // Whatever the schedule of the one run that is looked at.
  int runs = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto history = program.run(seed);
    if (!history) continue;
    ++runs;
    EXPECT_EQ(!found_in(*history).empty(), is_racy) << "seed " << seed << '\n' << program.text();
  }
  EXPECT_GT(runs, 0);
}

inline std::string name_of(const testing::TestParamInfo<Case>& tested) { return tested.param.name; }

}  // namespace baton::check::test
