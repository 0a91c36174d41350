// The table of the fastest algorithms: read, written, and made from measurements.
#include <gtest/gtest.h>

#include <functional>

#include "cli/tune/rules.hpp"
#include "collectives/selection.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using cli::Measurement;
using collectives::kAnyBytes;
using collectives::kAnyRanks;
using collectives::Location;
using collectives::Operation;
using collectives::Reach;
using collectives::TunedRule;

TEST(Table, ReadsWhatItWrites) {
  const std::vector<TunedRule> rules = {
      {Operation::allreduce, 2, Location::in_windows, 8192, Algorithm::exchange},
      {Operation::allreduce, kAnyRanks, Location::elsewhere, kAnyBytes, Algorithm::recursive_halving},
      {Operation::barrier, 16, Location::in_windows, kAnyBytes, Algorithm::meeting}};
  EXPECT_EQ(collectives::parse_table("# first\n\n" + format_table(rules) + "   # last\n", "file"), rules);
}

TEST(Table, NamesTheLineThatMakesNoSense) {
  for (const char* line : {"allreduce 2 windows 8", "allreduce 2 windows 8 mesh mesh", "allreduced 2 windows 8 mesh",
                           "allreduce 0 windows 8 mesh", "allreduce 2 outside 8 mesh", "allreduce 2 windows 8K mesh",
                           "allreduce 2 windows 8 bruck", "allreduce 2 windows 8 automatic"}) {
    require_error(Code::bad_option, {"line 2 of my.table", line},
                  [&] { static_cast<void>(collectives::parse_table(std::string("\n") + line, "my.table")); });
  }
}

/// Calls `body(operation, location, memory, bytes)` for all that a call may be.
void for_each_kind(const std::function<void(Operation, Location, Reach, std::size_t)>& body) {
  for (int operation = 0; operation < collectives::kOperations; ++operation) {
    for (const Location location : {Location::in_windows, Location::elsewhere}) {
      for (const Reach memory : {Reach::this_rank, Reach::all_ranks}) {
        for (std::size_t bytes = 0; bytes < std::size_t{1} << 32U; bytes = bytes * 3 / 2 + 8)
          body(static_cast<Operation>(operation), location, memory, bytes);
      }
    }
  }
}

TEST(TheShippedTable, ChoosesWhatCanBeDone) {
  for_each_kind([](Operation operation, Location location, Reach memory, std::size_t bytes) {
    for (const int ranks : {2, 3, 64, 1000}) {
      const auto& chosen = collectives::default_algorithm(operation, bytes, ranks, location, memory);
      ASSERT_EQ(chosen.operation, operation);
      ASSERT_TRUE(operation == Operation::barrier || collectives::takes(chosen, bytes, memory))
          << collectives::name_of(operation) << " of " << bytes << " by " << collectives::name_of(chosen.algorithm);
    }
  });
}

TEST(TheShippedTable, KnowsTwoRanksAndMore) {
  for_each_kind([](Operation operation, Location location, Reach memory, std::size_t bytes) {
    const auto& three = collectives::default_algorithm(operation, bytes, 3, location, memory);
    for (int ranks = 4; ranks <= 64; ++ranks)
      ASSERT_EQ(&collectives::default_algorithm(operation, bytes, ranks, location, memory), &three);
  });
}

Measurement measured(int ranks, std::size_t bytes, Algorithm algorithm, double microseconds) {
  return {Operation::all_to_all, ranks, Location::in_windows, bytes, algorithm, microseconds};
}

TEST(Rules, TakeTheFastestUpToTheMiddleBetweenTwoSizes) {
  const auto rules =
      cli::rules_from({measured(4, 64, Algorithm::bruck, 1), measured(4, 64, Algorithm::meeting, 2),
                       measured(4, 64, Algorithm::mesh, 3), measured(4, 1024, Algorithm::bruck, 5),
                       measured(4, 1024, Algorithm::mesh, 7), measured(4, 4096, Algorithm::bruck, 9),
                       measured(4, 4096, Algorithm::mesh, 7), measured(4, 1 << 20, Algorithm::bruck, 900),
                       measured(4, 1 << 20, Algorithm::mesh, 70)},
                      0.05);
  const std::vector<TunedRule> expected = {
      {Operation::all_to_all, kAnyRanks, Location::in_windows, 2048, Algorithm::bruck},
      {Operation::all_to_all, kAnyRanks, Location::in_windows, kAnyBytes, Algorithm::mesh}};
  EXPECT_EQ(rules, expected);
}

TEST(Rules, KeepTheDefaultThatIsAboutAsFast) {
  // By default small blocks of more than two ranks meet, and those of two are exchanged.
  const auto rules = cli::rules_from({measured(2, 64, Algorithm::exchange, 1.04), measured(2, 64, Algorithm::mesh, 1),
                                      measured(8, 64, Algorithm::meeting, 1.06), measured(8, 64, Algorithm::mesh, 1)},
                                     0.05);
  const std::vector<TunedRule> expected = {
      {Operation::all_to_all, 2, Location::in_windows, kAnyBytes, Algorithm::exchange},
      {Operation::all_to_all, kAnyRanks, Location::in_windows, kAnyBytes, Algorithm::mesh}};
  EXPECT_EQ(rules, expected);
}

}  // namespace
}  // namespace baton::test
