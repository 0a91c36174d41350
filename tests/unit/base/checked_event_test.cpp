#include "base/checked_event.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace baton {
namespace {

/// All that one chip may hand over in a run.
std::vector<std::uint64_t> tokens_of(std::uint64_t chip) {
  std::vector<std::uint64_t> tokens{tasks_token(chip)};
  for (std::uint64_t number = 0; number < 100; ++number) {
    tokens.push_back(task_token(chip, number, TaskMoment::submitted));
    tokens.push_back(task_token(chip, number, TaskMoment::ended));
    tokens.push_back(token_of(chip, TokenKind::once, number));
    tokens.push_back(token_of(chip, TokenKind::copy, number));
  }
  return tokens;
}

TEST(CheckedEvent, NoTwoTokensAreTheSame) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t process = 1000; process < 1100; ++process) {
    for (std::uint64_t number = 1; number <= 40; ++number) {
      const std::vector<std::uint64_t> tokens = tokens_of(mix(process, number));
      all.insert(all.end(), tokens.begin(), tokens.end());
    }
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

}  // namespace
}  // namespace baton
