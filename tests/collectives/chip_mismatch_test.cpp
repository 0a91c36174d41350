// Members that call different things in kernels and in graphs: all of them learn of it, with both sides.
#include <gtest/gtest.h>

#include <baton/inproc.hpp>

#include "disagreements.hpp"
#include "seeded.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

class ChipMismatch : public testing::TestWithParam<std::tuple<Level, int>> {
 protected:
  static Level level() { return std::get<0>(GetParam()); }
  static int ranks() { return std::get<1>(GetParam()); }
};

TEST_P(ChipMismatch, IsToldToAllWithBothSides) {
  for (const Disagreement& one : disagreements(ranks(), level())) {
    SCOPED_TRACE(one.name);
    EXPECT_NO_THROW(run_ranks(ranks(), [&](Domain me) { disagree(me, level(), one); }));
  }
}

TEST_P(ChipMismatch, IsToldForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(3)); ++seed) {
    for (const Disagreement& one : disagreements(ranks(), level())) {
      EXPECT_EQ(run_seeded(ranks(), seed, [&](Domain me) { disagree(me, level(), one, seed); }), "")
          << one.name << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ChipMismatch,
                         testing::Combine(testing::Values(Level::kernel, Level::graph), testing::Values(2, 3, 5)),
                         [](const auto& param) {
                           const std::string level = std::get<0>(param.param) == Level::kernel ? "Kernel" : "Graph";
                           return level + "Of" + std::to_string(std::get<1>(param.param));
                         });

}  // namespace
}  // namespace baton::test
