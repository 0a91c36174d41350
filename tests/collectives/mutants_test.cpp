// A test of the tests: an algorithm with any one wait left out is found by a few seeds; none is found without that.
#include <gtest/gtest.h>

#include <set>

#include "base/fiber.hpp"
#include "bodies.hpp"
#include "cases.hpp"
#include "collectives/run.hpp"
#include "expect_clean.hpp"
#include "seeded.hpp"
#include "support/recorded.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::HostMover;
using collectives::Mover;
using collectives::Operation;

/// Which waits of a rank may be left out.
enum class Waits : std::uint8_t { all, but_meetings };

/// Passes everything on, but for the wait with the number `left_out`. Others have turns between any two verbs,
/// and very many of them on a rank that is `slow`.
class SkippingMover final : public Mover {
 public:
  SkippingMover(Mover& real, int left_out, Waits mutated, bool slow)
      : Mover(real.rank(), real.size()), real_(real), left_out_(left_out), mutated_(mutated), turns_(slow ? 50 : 1) {}
  [[nodiscard]] int waits() const noexcept { return waits_; }

  [[nodiscard]] std::byte* room() override {
    give_turns();
    return real_.room();
  }
  void announce() override {
    give_turns();
    real_.announce();
  }
  void wait_announced(int peer) override {
    if (is_kept()) real_.wait_announced(peer);
  }
  void all_announced() override { real_.all_announced(); }
  [[nodiscard]] const std::byte* contribution(int peer) const override { return real_.contribution(peer); }
  [[nodiscard]] bool arrive() override {
    give_turns();
    return real_.arrive();
  }
  void release() override {
    give_turns();
    real_.release();
  }
  void wait_released() override {
    if (mutated_ == Waits::but_meetings) {
      give_turns();
      real_.wait_released();
    } else if (is_kept()) {
      real_.wait_released();
    }
  }
  [[nodiscard]] std::byte* common() override { return real_.common(); }
  void step() override {
    give_turns();
    real_.step();
  }
  void wait_step(int peer, std::uint64_t steps) override {
    if (is_kept()) real_.wait_step(peer, steps);
  }
  [[nodiscard]] bool has_made(int peer, std::uint64_t steps) const override { return real_.has_made(peer, steps); }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    give_turns();
    real_.copy(to, from, bytes);
  }
  void reduce(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element, ReduceOp op,
              std::uint32_t divisor) override {
    give_turns();
    real_.reduce(to, from, count, element, op, divisor);
  }
  /// What a slow rank does before everything.
  void give_turns() const {
    for (int turn = 0; turn < turns_; ++turn) yield_fiber();
  }

 private:
  bool is_kept() {
    give_turns();
    return ++waits_ != left_out_;
  }
  Mover& real_;
  int left_out_;
  Waits mutated_;
  int turns_;
  int waits_ = 0;
};

constexpr int kRanks = 4;
constexpr int kNone = -1;
/// So short that it comes round within a call.
constexpr collectives::StagingRing kRing{.pieces = 2, .piece_bytes = 192};

struct Outcome {
  bool failed = false;
  int waits = 0;  // of the mutated rank, in the calls that are followed by as many as reuse anything of theirs
};
constexpr int kMutatedCalls = 2;
constexpr int kCalls = 4;

/// In a tree of sums every rank begins with a meeting, and those with children then wait for what these do after it: no
/// harm is done if they do not wait at the meeting themselves.
Waits waits_that_matter(const Case& one, int rank) {
  const int from_root = (rank - one.root + kRanks) % kRanks;
  const bool has_children = from_root % 2 == 0;
  const bool is_tree_of_sums = one.operation == Operation::reduce && one.algorithm == Algorithm::tree;
  return is_tree_of_sums && has_children ? Waits::but_meetings : Waits::all;
}

/// Makes the call a few times; `mutant` leaves its wait `left_out` out.
Outcome run_mutant(const Case& one, std::uint64_t seed, int mutant, int left_out) {
  Outcome outcome;
  std::size_t wrong = 0;
  const std::string failure = run_seeded(kRanks, seed, [&](Domain me) {
    const Buffers buffers(me, bytes_of(one, kRanks));
    // A mutant reads at addresses that nobody has told.
    HostMover host(me, kRing, collectives::PeerMemory::Within::system);
    SkippingMover mover(host, me.rank() == mutant ? left_out : kNone, waits_that_matter(one, me.rank()),
                        seed % 2 == 0 && static_cast<int>(seed / 2 % kRanks) == me.rank());
    const Maker maker = [&](const Domain& domain, const Case& made, ConstData in, Data out) {
      collectives::Request request;
      request.call = {made.operation, made.element, made.op, made.root, made.count};
      request.in = in;
      request.out = out;
      request.algorithm = made.algorithm;
      // Ranks that lost each other over a mutant need not be waited for.
      request.timeout = left_out == kNone ? std::chrono::milliseconds(20'000) : std::chrono::milliseconds(15);
      // What the caller did with the data before, and does after.
      if (in.window() != nullptr) in.window()->note_write(in.address(), in.count() * size_of(in.element()));
      const std::vector<std::size_t> counts(kRanks, made.count);
      if (made.operation == Operation::all_to_all_v) {
        run_all_to_all_v(domain, host, mover, request, counts, counts);
      } else {
        run(domain, host, mover, request);
      }
      if (out.window() != nullptr) out.window()->note_read(out.address(), out.count() * size_of(out.element()));
    };
    me.barrier();
    for (int round = 0; round < kCalls; ++round) {
      mover.give_turns();
      wrong += wrong_elements(me, buffers, one, round, maker);
      if (me.rank() == mutant && round + 1 == kMutatedCalls) outcome.waits = mover.waits();
    }
    me.barrier();
  });
  outcome.failed = wrong != 0 || !failure.empty();
  return outcome;
}

std::vector<Case> mutated_cases() {
  std::vector<Case> cases;
  for (const auto& info : collectives::all_algorithms()) {
    if (info.operation == Operation::barrier) continue;
    for (const Memory memory : {Memory::windows, Memory::own}) {
      Case one{.operation = info.operation, .count = 130, .root = 1, .memory = memory, .algorithm = info.algorithm};
      // Contributions do not depend on where the data is.
      if (info.needs == collectives::Needs::contributions && memory == Memory::own) continue;
      // Staged pieces begin with a meeting, which makes up for the waits at the end of the piece before.
      const bool staged_only = info.operation == Operation::reduce;
      if (info.needs == collectives::Needs::outputs && memory == Memory::own && !staged_only) continue;
      if (info.operation == Operation::broadcast) one.placing = Placing::in_place;
      cases.push_back(one);
    }
  }
  return cases;
}

TEST(Seeds, FindNothingInWholeAlgorithms) {
  for (const Case& one : mutated_cases()) {
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(10)); ++seed)
      ASSERT_FALSE(run_mutant(one, seed, 0, kNone).failed) << describe(one) << ", seed " << seed;
  }
}

TEST(Seeds, FindEveryWaitThatIsLeftOut) {
#if defined(BATON_SANITIZE_ADDRESS) || defined(BATON_SANITIZE_THREAD)
  GTEST_SKIP() << "mutants do what sanitizers report";
#endif
  constexpr std::uint64_t kSeeds = 60;
  int mutants = 0;
  std::vector<std::string> survivors;
  for (const Case& one : mutated_cases()) {
    for (int mutant = 0; mutant < (scaled(1000) > 1000 ? kRanks : 2); ++mutant) {
      int most = 0;
      std::set<int> found;
      // How often a rank waits at a meeting depends on who comes last.
      for (std::uint64_t seed = 1; seed <= 4; ++seed) most = std::max(most, run_mutant(one, seed, mutant, kNone).waits);
      for (int wait = 1; wait <= most; ++wait) {
        ++mutants;
        for (std::uint64_t seed = 1; seed <= kSeeds && found.count(wait) == 0; ++seed) {
          if (run_mutant(one, seed, mutant, wait).failed) found.insert(wait);
        }
        if (found.count(wait) == 0) {
          survivors.push_back(describe(one) + ", rank " + std::to_string(mutant) + ", wait " + std::to_string(wait));
        }
      }
    }
  }
  std::string text;
  for (const std::string& survivor : survivors) text += "\n  " + survivor;
  EXPECT_TRUE(survivors.empty()) << survivors.size() << " of " << mutants << " mutants survive:" << text;
}

TEST(Races, AreNotInWholeAlgorithms) {
  for (const Case& one : mutated_cases()) {
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(3)); ++seed) {
      const Recorded recorded = record([&] { static_cast<void>(run_mutant(one, seed, 0, kNone)); });
      ASSERT_TRUE(recorded.findings.races.empty()) << describe(one) << ", seed " << seed << '\n' << recorded.text();
      ASSERT_GT(recorded.findings.accesses, 0U) << describe(one);
    }
  }
}

TEST(Races, AreNotInMessagesForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(3)); ++seed) {
    expect_right_and_clean(kRanks, seed, pass_messages_round);
  }
}

TEST(Races, AreNotInBlocksOfAllSizesForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(3)); ++seed) {
    expect_right_and_clean(kRanks, seed,
                           [](Domain me) { exchange_blocks_of_all_sizes(std::move(me), Memory::output_in_window); });
  }
}

TEST(Races, AreFoundBetweenMessagesAndPuts) {
  for (const bool sends : {true, false}) {
    const Recorded recorded = record([&] {
      static_cast<void>(run_seeded(2, 1, [&](Domain me) {
        auto x = me.window<float>("x", 8);
        const std::vector<float> own(8);
        std::vector<float> in(8);
        broadcast(me, in, 0);  // the first call of all meets, which is an order
        if (me.rank() == 0 && sends) send(me, 1, x);
        if (me.rank() == 0 && !sends) recv(me, 1, x);
        if (me.rank() == 1) {
          x.put(0, 0, 1.0F);
          sends ? recv(me, 0, in) : send(me, 0, own);
          x.put(0, 1, 1.0F);
        }
        me.barrier();
      }));
    });
    EXPECT_NE(recorded.text().find(sends ? "rank 0 reads: send" : "rank 0 writes: recv"), std::string::npos)
        << recorded.text();
  }
}

TEST(Races, AreWhereAWaitIsLeftOut) {
#if defined(BATON_SANITIZE_ADDRESS) || defined(BATON_SANITIZE_THREAD)
  GTEST_SKIP() << "mutants do what sanitizers report";
#endif
  constexpr std::uint64_t kSeeds = 60;
  int mutants = 0;
  std::string survivors;
  for (const Case& one : mutated_cases()) {
    // What lies outside of windows is not checked.
    if (one.memory != Memory::windows) continue;
    int most = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) most = std::max(most, run_mutant(one, seed, 1, kNone).waits);
    for (int wait = 1; wait <= most; ++wait) {
      ++mutants;
      bool found = false;
      for (std::uint64_t seed = 1; seed <= kSeeds && !found; ++seed) {
        found = !record([&] { static_cast<void>(run_mutant(one, seed, 1, wait)); }).findings.races.empty();
      }
      if (!found) survivors += "\n  " + describe(one) + ", wait " + std::to_string(wait);
    }
  }
  EXPECT_GT(mutants, 50);
  EXPECT_EQ(survivors, "") << "of " << mutants << " mutants";
}

}  // namespace
}  // namespace baton::test
