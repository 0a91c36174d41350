// Ranks under one seed, under the eyes of the race detector.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include <baton/domain.hpp>

#include "seeded.hpp"
#include "support/recorded.hpp"

namespace baton::test {

/// Nothing is wrong, and nothing races.
inline void expect_right_and_clean(int ranks, std::uint64_t seed, const std::function<void(Domain)>& body) {
  std::string failure;
  const Recorded recorded = record([&] { failure = run_seeded(ranks, seed, body); });
  EXPECT_EQ(failure + recorded.failure + recorded.text(), "") << "seed " << seed;
  if (ranks > 1) {
    EXPECT_GT(recorded.findings.accesses, 0U) << "nothing was looked at";
  }
}

}  // namespace baton::test
