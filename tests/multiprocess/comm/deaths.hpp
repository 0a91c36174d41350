// Deaths at every step of a rank's life, for jobs on one host and over several.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace baton::test {

struct Death {
  const char* step;
  int victim;
};

/// What a job's environment says for the scenario to end like this; see reach().
inline std::vector<std::string> ending(int victim, std::string_view step, std::string_view how = "kill") {
  return {fmt::format("TEST_VICTIMS={}", victim), fmt::format("TEST_STEP={}", step),
          fmt::format("TEST_ENDING={}", how)};
}

/// At every step of the scenario "Life", of ranks 0 and 2: on one host the host of the job and a guest, over several
/// one that is alone on its host and one that is not.
inline std::vector<Death> deaths_in_life() {
  std::vector<Death> all;
  for (const char* step :
       {"joined", "allocated", "after_barrier", "waiting", "putting", "before_release", "after_release", "in_subset"}) {
    for (const int victim : {0, 2}) all.push_back({step, victim});
  }
  return all;
}

inline std::string step_and_victim(const testing::TestParamInfo<Death>& death) {
  return fmt::format("{}_of_rank_{}", death.param.step, death.param.victim);
}

}  // namespace baton::test
