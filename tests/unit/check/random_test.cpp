// The detector against the truth: of random programs every run is tried, and one of them is given to the detector.
#include <gtest/gtest.h>

#include <random>

#include "program.hpp"

namespace baton::check::test {
namespace {

struct Shape {
  Actor actors;
  std::uint32_t events;  // of each actor
  std::uint32_t signals;
  bool with_sets;
  bool with_comparisons;
};

Program random_program(std::mt19937_64& random, const Shape& shape) {
  Program program(shape.actors);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  // A barrier in the middle of some programs.
  const bool has_barrier = below(4) == 0;
  for (std::uint32_t i = 0; i < shape.events; ++i) {
    for (Actor actor = 0; actor < shape.actors; ++actor) {
      ActorProgram& mine = program[actor];
      if (has_barrier && i == shape.events / 2) {
        mine.barrier(7);
        continue;
      }
      const std::uint64_t signal = below(shape.signals);
      switch (below(6)) {
        case 0: mine.write(0); break;
        case 1: mine.read(0); break;
        case 2:
        case 3:
          if (shape.with_sets && below(2) == 0) {
            mine.set(signal, static_cast<std::int64_t>(below(3)));
          } else {
            mine.notify(signal, below(4) == 0 ? 2 : 1);
          }
          break;
        default: {
          const auto value = static_cast<std::int64_t>(1 + below(3));
          const WaitCmp comparison =
              shape.with_comparisons ? static_cast<WaitCmp>(below(6)) : (below(4) == 0 ? WaitCmp::gt : WaitCmp::ge);
          mine.wait(signal, comparison == WaitCmp::gt ? value - 1 : value, comparison);
        }
      }
    }
  }
  return program;
}

/// Tries programs until `wanted` of them have a run that ends.
template <class Judge>
void try_programs(const Shape& shape, std::uint64_t seed, int wanted, Judge judge) {
  std::mt19937_64 random(seed);
  for (int tried = 0, done = 0; done < wanted && tried < 200 * wanted; ++tried) {
    const Program program = random_program(random, shape);
    const auto history = program.run(random());
    if (!history) continue;
    ++done;
    judge(program, *history);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << program.text();
      return;
    }
  }
}

TEST(Random, CountersAreJudgedExactly) {
  int racy = 0;
  int clean = 0;
  for (const Shape& shape : {Shape{2, 6, 2, false, false}, Shape{3, 5, 2, false, false}, Shape{3, 5, 1, false, false},
                             Shape{4, 4, 2, false, false}, Shape{4, 5, 3, false, false}}) {
    try_programs(shape, 17, 400, [&](const Program& program, const History& history) {
      const auto truth = program.races();
      const auto found = found_in(history);
      EXPECT_EQ(found.empty(), truth.empty());
      // Of several races at the same bytes some may hide others, but none is invented.
      for (const auto& pair : found) EXPECT_TRUE(truth.contains(pair)) << pair.first << ", " << pair.second;
      (truth.empty() ? clean : racy) += 1;
    });
  }
  EXPECT_GT(racy, 100);
  EXPECT_GT(clean, 100);
}

TEST(Random, NoRaceIsMissedWithSetsAndAllComparisons) {
  for (const Shape& shape : {Shape{2, 6, 1, true, true}, Shape{3, 4, 2, true, true}, Shape{3, 5, 1, true, false},
                             Shape{3, 5, 2, false, true}}) {
    try_programs(shape, 23, 400, [&](const Program& program, const History& history) {
      // Only races between accesses that this run came to.
      const auto truth = program.races();
      const auto found = found_in(history);
      EXPECT_TRUE(truth.empty() || !found.empty());
    });
  }
}

TEST(Random, PiecesFindWhatTheWholeFinds) {
  std::mt19937_64 random(5);
  try_programs({3, 12, 4, false, false}, 31, 200, [&](const Program&, const History& history) {
    RaceFinder finder(12 + random() % 20);
    for (Actor actor = 0; actor < 3; ++actor) finder.enter(actor);
    for (const Event& event : history) finder.add(event);
    finder.finish();
    EXPECT_EQ(finder.findings().empty(), found_in(history).empty());
  });
}

}  // namespace
}  // namespace baton::check::test
