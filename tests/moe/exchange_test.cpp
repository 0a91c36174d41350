// Whole exchanges, with what a rank's tokens become calculated by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/inproc.hpp>
#include <moe/layout.hpp>

#include "support/recorded.hpp"
#include "support/scale.hpp"

BATON_KERNEL_DECLARE(there_and_back, baton::In<std::int32_t> problem, baton::In<float> tokens,
                     baton::In<std::int32_t> experts, baton::In<float> weights, baton::Out<std::int32_t> plan,
                     baton::Out<float> outbox, baton::Out<float> rows, baton::Out<std::int32_t> blocks,
                     baton::Out<float> sums, std::uint8_t* window, const CommContext* context, std::int32_t token_count,
                     std::int32_t round, std::int64_t parts);

/// Makes an exchange of half, or of bfloat16, and waits for rows of round 1, which nobody sends.
BATON_KERNEL_DECLARE(begin_exchange, baton::In<std::int32_t> problem, std::uint8_t* window, const CommContext* context,
                     std::int32_t as_half);

namespace baton::moe {
namespace {

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

/// One rank's input of one round, drawn at random: some tokens, some of which choose fewer experts than they may.
struct Input {
  std::int32_t tokens;
  Floats values;
  Ints experts;
  Floats weights;  // small whole numbers: sums are exact

  Input(const Layout& layout, int rank, std::int32_t round) {
    const Problem& problem = layout.problem();
    std::mt19937 random(static_cast<unsigned>(1000 * rank + round));
    const auto below = [&](std::int64_t limit) { return static_cast<std::int32_t>(random() % size(limit)); };
    tokens = below(problem.tokens_at_most + 1);
    values.resize(size(problem.tokens_at_most * problem.width));
    experts.resize(size(layout.choices_at_most()));
    weights.resize(experts.size());
    for (float& value : values) value = static_cast<float>(below(1000));
    // Half of the choices are the first expert: it gets more than its share.
    for (auto& expert : experts) {
      expert = below(2) == 0 ? 0 : below(layout.experts() + 1) - 1;  // -1: none
    }
    for (float& weight : weights) weight = static_cast<float>(below(8));
  }

  /// The experts return what they get, so a token becomes itself times the weights of what was sent of it.
  [[nodiscard]] Floats golden(const Layout& layout) const {
    const Problem& problem = layout.problem();
    Floats sums(size(tokens * problem.width));
    std::map<std::int32_t, std::int32_t> sent;
    for (std::size_t choice = 0; choice < size(tokens * problem.top_k); ++choice) {
      const std::int32_t expert = experts[choice];
      if (expert < 0 || (problem.capacity > 0 && sent[expert] >= problem.capacity)) continue;
      ++sent[expert];
      const std::size_t first = choice / size(problem.top_k) * size(problem.width);
      for (std::size_t i = first; i < first + size(problem.width); ++i) sums[i] += weights[choice] * values[i];
    }
    return sums;
  }
};

struct Case {
  Problem problem;
  std::uint64_t seed;
};

class MoeExchange : public testing::TestWithParam<Case> {};

/// Makes some rounds: which ranks got wrong sums, and when.
std::vector<std::string> wrong_rounds(const Case& one) {
  const Layout layout(one.problem);
  const Problem& problem = layout.problem();
  std::mutex mutex;
  std::vector<std::string> wrong;
  baton::run_ranks(problem.ranks, [&](Domain me) {
    auto window = me.window<std::uint8_t>("moe", size(layout.window_bytes()));
    Chip chip(me, {.clusters = 1, .threads = 1, .seed = one.seed});
    const auto numbers = chip.alloc<std::int32_t>({kProblemInts}, "problem");
    const auto tokens = chip.alloc<float>({problem.tokens_at_most, problem.width}, "tokens");
    const auto experts = chip.alloc<std::int32_t>({layout.choices_at_most()}, "experts");
    const auto weights = chip.alloc<float>({layout.choices_at_most()}, "weights");
    const auto plan = chip.alloc<std::int32_t>({layout.plan_ints()}, "plan");
    const auto outbox = chip.alloc<float>({layout.sent_at_most(), problem.width}, "outbox");
    const auto rows = chip.alloc<float>({layout.received_at_most(), problem.width}, "rows");
    const auto blocks = chip.alloc<std::int32_t>({layout.block_ints()}, "blocks");
    const auto sums = chip.alloc<float>({problem.tokens_at_most, problem.width}, "sums");
    chip.copy_in<std::int32_t>(
        numbers, Ints{problem.ranks, problem.experts_per_rank, problem.top_k, problem.tokens_at_most, problem.width,
                      problem.element_bytes, problem.capacity});
    for (std::int32_t round = 1; round <= 4; ++round) {
      const Input input(layout, me.rank(), round);
      chip.copy_in<float>(tokens, input.values);
      chip.copy_in<std::int32_t>(experts, input.experts);
      chip.copy_in<float>(weights, input.weights);
      chip.run([&](Graph& graph) {
        graph.submit(there_and_back, numbers, tokens, experts, weights, plan, outbox, rows, blocks, sums, window.data(),
                     window.context(), input.tokens, round, std::int64_t{round});
      });
      Floats got(size(problem.tokens_at_most * problem.width));
      chip.copy_out<float>(sums, got);
      got.resize(size(input.tokens * problem.width));
      if (got == input.golden(layout)) continue;
      const std::scoped_lock lock(mutex);
      wrong.push_back("rank " + std::to_string(me.rank()) + ", round " + std::to_string(round));
    }
    me.barrier();
  });
  return wrong;
}

TEST_P(MoeExchange, EveryTokenGetsItsWeightedSumRoundAfterRound) {
  EXPECT_EQ(wrong_rounds(GetParam()), std::vector<std::string>{});
}

TEST_P(MoeExchange, HasNoRacesForEverySeed) {
  Case one = GetParam();
  if (one.problem.width > 1000) GTEST_SKIP() << "the same with fewer bytes";
  for (int i = 0; i < test::scaled(2); ++i, one.seed += 100) {
    std::vector<std::string> wrong;
    const test::Recorded recorded = test::record([&] { wrong = wrong_rounds(one); });
    ASSERT_EQ(recorded.failure, "") << "seed " << one.seed;
    ASSERT_EQ(wrong, std::vector<std::string>{}) << "seed " << one.seed;
    ASSERT_EQ(recorded.text(), "") << "seed " << one.seed;
    ASSERT_GT(recorded.findings.accesses, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MoeExchange,
                         testing::Values(Case{{1, 1, 1, 1, 1, 4, 0}, 1}, Case{{1, 5, 3, 9, 17, 4, 2}, 2},
                                         Case{{2, 1, 2, 5, 8, 4, 0}, 3}, Case{{3, 2, 1, 7, 33, 4, 1}, 4},
                                         Case{{4, 40, 6, 200, 5, 4, 0}, 5},  // more blocks than copies may be open
                                         Case{{5, 3, 4, 4, 4100, 4, 3}, 6}, Case{{16, 2, 2, 3, 16, 4, 0}, 7}));

Ints numbers_of(const Problem& problem) {
  Ints numbers(kProblemInts);
  std::memcpy(numbers.data(), &problem, sizeof problem);
  return numbers;
}

/// What each rank learns if the last one has other sizes, or elements, than the others.
std::vector<std::string> reports(int ranks, const std::function<void(Problem&)>& change, bool odd_is_half,
                                 std::optional<std::uint64_t> seed) {
  std::vector<std::string> told(size(ranks));
  run_ranks(ranks, [&](Domain me) {
    Problem common{ranks, 2, 2, 5, 8, 2, 0};
    Problem odd = common;
    change(odd);
    const bool is_odd = me.rank() == ranks - 1;
    const std::int64_t bytes = std::max(Layout(common).window_bytes(), Layout(odd).window_bytes());
    auto window = me.window<std::uint8_t>("moe", size(bytes));
    Chip chip(me, {.clusters = 1, .threads = 1, .seed = seed});
    const auto numbers = chip.alloc<std::int32_t>({kProblemInts}, "problem");
    chip.copy_in<std::int32_t>(numbers, numbers_of(is_odd ? odd : common));
    const auto call = [&] {
      try {
        chip.run([&](Graph& graph) {
          graph.submit(begin_exchange, numbers, window.data(), window.context(), is_odd && odd_is_half ? 1 : 0);
        });
        return std::string("nothing");
      } catch (const Error& error) {
        return std::string(error.what());
      }
    };
    std::string report = call();
    // A later use of the window reports it, too.
    if (call().find("[BATON-E0") == std::string::npos) report = "nothing at the second time";
    told[size(me.rank())] = report;
    me.barrier();
  });
  return told;
}

struct Difference {
  std::function<void(Problem&)> change;
  std::string common_text;
  std::string odd_text;
};

TEST(MoeDisagreement, OfSizesIsToldToAllWithBothSides) {
  const Difference differences[] = {
      {[](Problem& p) { p.experts_per_rank = 3; }, " has 2 experts", " has 3 experts"},
      {[](Problem& p) { p.top_k = 1; }, "top 2", "top 1"},
      {[](Problem& p) { p.tokens_at_most = 50; }, " 5 tokens at most", " 50 tokens at most"},
      {[](Problem& p) { p.width = 16; }, "rows of 8 bfloat16", "rows of 16 bfloat16"},
      {[](Problem& p) { p.capacity = 1; }, "capacity 0", "capacity 1"},
  };
  for (int ranks = 2; ranks <= 5; ++ranks) {
    for (const auto& [change, common_text, odd_text] : differences) {
      for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>(), {7}, {8}}) {
        for (const std::string& report : reports(ranks, change, false, seed)) {
          EXPECT_THAT(report, testing::HasSubstr("BATON-E005"));
          EXPECT_THAT(report, testing::HasSubstr(common_text));
          EXPECT_THAT(report, testing::HasSubstr("rank " + std::to_string(ranks - 1) + " has"));
          EXPECT_THAT(report, testing::HasSubstr(odd_text));
        }
      }
    }
  }
}

TEST(MoeDisagreement, OfElementsIsToldToAllWithBothSides) {
  for (const std::string& report : reports(3, [](Problem&) {}, true, {})) {
    EXPECT_THAT(report, testing::HasSubstr("rows of 8 bfloat16"));
    EXPECT_THAT(report, testing::HasSubstr("rows of 8 float16"));
  }
}

TEST(MoeDisagreement, OfARankWithItselfEndsTheOthers) {
  const std::vector<std::string> told = reports(3, [](Problem& p) { p.element_bytes = 4; }, false, {});
  EXPECT_THAT(told[0], testing::HasSubstr("rank 2 failed in this exchange"));
  EXPECT_THAT(told[1], testing::HasSubstr("rank 2 failed in this exchange"));
  EXPECT_THAT(told[2], testing::HasSubstr("made for elements of 4 bytes, this kernel has 2"));
}

}  // namespace
}  // namespace baton::moe
