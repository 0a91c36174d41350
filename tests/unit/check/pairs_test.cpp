// Every pair of accesses of ranks to the same bytes, ordered by each mechanism or not quite.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include <baton/collectives.hpp>
#include <baton/inproc.hpp>

#include "support/recorded.hpp"
#include "uses.hpp"

namespace baton::test {
namespace {

constexpr int kRanks = 4;
constexpr int kOwner = 0;
constexpr int kThird = 3;
/// The element of the owner's part that both access, and one that nobody else does.
constexpr std::size_t kShared = 4;
constexpr std::size_t kOther = 8;

struct Operation {
  const char* name;
  bool is_local;  // the owner of the bytes makes it
  CheckedUse use;
  std::function<void(const Window<int>&)> make;
};

const Operation kOperations[] = {
    {"put", false, CheckedUse::write, [](const Window<int>& x) { x.put(kOwner, kShared, 1); }},
    {"get", false, CheckedUse::read,
     [](const Window<int>& x) {
       int got = 0;
       x.get(kOwner, kShared, std::span(&got, 1));
     }},
    {"store", true, CheckedUse::write, [](const Window<int>& x) { x.note_write(&x[kShared], sizeof(int)); }},
    {"load", true, CheckedUse::read, [](const Window<int>& x) { x.note_read(&x[kShared], sizeof(int)); }},
    {"store to a peer", false, CheckedUse::write,
     [](const Window<int>& x) { x.note_write(&x.peer(kOwner)[kShared], sizeof(int)); }},
    {"load from a peer", false, CheckedUse::read,
     [](const Window<int>& x) { x.note_read(&x.peer(kOwner)[kShared], sizeof(int)); }},
    {"put from there", true, CheckedUse::read,
     [](const Window<int>& x) { x.put(1, kOther, std::span(&x[kShared], 1)); }},
    {"get to there", true, CheckedUse::write,
     [](const Window<int>& x) { x.get(1, kOther, std::span(&x[kShared], 1)); }},
    {"notify", false, CheckedUse::atomic, [](const Window<int>& x) { x.notify(kOwner, kShared * sizeof(int)); }},
    {"notify of oneself", true, CheckedUse::atomic,
     [](const Window<int>& x) { x.notify(kOwner, kShared * sizeof(int)); }},
};

/// What is between the two accesses.
struct Surroundings {
  Domain& me;
  Signals& signals;
  RawWindow& words;
  int first;
  int second;
  [[nodiscard]] bool is_first() const { return me.rank() == first; }
  [[nodiscard]] bool is_second() const { return me.rank() == second; }
  [[nodiscard]] bool is_third() const { return me.rank() == kThird; }
};

struct Mechanism {
  const char* name;
  bool orders;
  /// Called by every rank: the first makes its access before, the second after it.
  std::function<void(const Surroundings&)> between;
  /// Called by every rank before both.
  std::function<void(const Surroundings&)> before = [](const Surroundings&) {};
};

const Mechanism kMechanisms[] = {
    {"nothing", false, [](const Surroundings&) {}},
    {"barrier", true, [](const Surroundings& s) { s.me.barrier(); }},
    {"barrier before both", false, [](const Surroundings&) {}, [](const Surroundings& s) { s.me.barrier(); }},
    {"barrier of a subset without the first", false,
     [](const Surroundings& s) {
       const std::array<int, 2> members = {std::min(s.second, kThird), std::max(s.second, kThird)};
       if (!s.is_second() && !s.is_third()) return;
       s.me.subset("two", members).barrier();
     }},
    {"notify and wait", true,
     [](const Surroundings& s) {
       if (s.is_first()) s.signals.notify(s.second, 0);
       if (s.is_second()) s.signals.wait(0, WaitCmp::ge, 1);
     }},
    {"set and wait", true,
     [](const Surroundings& s) {
       if (s.is_first()) s.signals.notify(s.second, 0, 7, NotifyOp::set);
       if (s.is_second()) s.signals.wait(0, WaitCmp::eq, 7);
     }},
    {"notify before the access", false,
     [](const Surroundings& s) {
       if (s.is_second()) s.signals.wait(0, WaitCmp::ge, 1);
     },
     [](const Surroundings& s) {
       if (s.is_first()) s.signals.notify(s.second, 0);
     }},
    {"another signal", false,
     [](const Surroundings& s) {
       if (s.is_first()) s.signals.notify(s.second, 1);
       if (s.is_third()) s.signals.notify(s.second, 0);
       if (s.is_second()) s.signals.wait(0, WaitCmp::ge, 1);
     }},
    {"passed on", true,
     [](const Surroundings& s) {
       if (s.is_first()) s.signals.notify(kThird, 0);
       if (s.is_third()) {
         s.signals.wait(0, WaitCmp::ge, 1);
         s.signals.notify(s.second, 0);
       }
       if (s.is_second()) s.signals.wait(0, WaitCmp::ge, 1);
     }},
    {"a count of two", true,
     [](const Surroundings& s) {
       if (s.is_first() || s.is_third()) s.signals.notify(s.second, 0);
       if (s.is_second()) s.signals.wait(0, WaitCmp::ge, 2);
     }},
    {"one of a count of two", false,
     [](const Surroundings& s) {
       if (s.is_first() || s.is_third()) s.signals.notify(s.second, 0);
       if (s.is_second()) s.signals.wait(0, WaitCmp::ge, 1);
     }},
    {"a count that the third makes alone", false,
     [](const Surroundings& s) {
       if (s.is_first()) s.signals.notify(s.second, 0);
       if (s.is_third()) s.signals.notify(s.second, 0, 2);
       if (s.is_second()) s.signals.wait(0, WaitCmp::ge, 2);
     }},
    {"a word that grows", true,
     [](const Surroundings& s) {
       if (s.is_first()) s.words.advance(s.first, 0, 1);
       if (s.is_second()) s.words.wait_reached(s.first, 0, 1, Needed::owner, std::chrono::seconds(20));
     }},
    {"allreduce", true,
     [](const Surroundings& s) {
       std::array<int, 1> sum = {1};
       allreduce(s.me, std::span<int>(sum));
     }},
};

/// Both accesses, with the mechanism between them. The first is rank 1 unless it is the owner.
Recorded run_pair(const Operation& first, const Operation& second, const Mechanism& mechanism) {
  const int first_rank = first.is_local ? kOwner : 1;
  const int second_rank = second.is_local ? kOwner : 2;
  return record([&] {
    run_ranks(kRanks,
              [&](Domain me) {
                const auto x = me.window<int>("x", 16);
                auto signals = me.signals("signals", 2);
                auto words = me.raw_window("words", 64);
                const Surroundings all{me, signals, words, first_rank, second_rank};
                mechanism.before(all);
                if (all.is_first()) first.make(x);
                mechanism.between(all);
                if (all.is_second()) second.make(x);
              },
              {.threads = 1});
  });
}

class Pairs : public testing::TestWithParam<std::size_t> {};

TEST_P(Pairs, AreJudgedRightly) {
  const Mechanism& mechanism = kMechanisms[GetParam()];
  int racy = 0;
  int clean = 0;
  for (const Operation& first : kOperations) {
    for (const Operation& second : kOperations) {
      if (first.is_local && second.is_local) continue;  // one rank has an order of its own
      const bool expected = conflict(first.use, second.use) && !mechanism.orders;
      const Recorded recorded = run_pair(first, second, mechanism);
      EXPECT_EQ(recorded.failure, "");
      EXPECT_EQ(!recorded.findings.races.empty(), expected)
          << first.name << ", then " << second.name << ", with " << mechanism.name << '\n'
          << recorded.text();
      EXPECT_GE(recorded.findings.events, 2U);
      (expected ? racy : clean) += 1;
    }
  }
  EXPECT_EQ(racy + clean, 75);
  EXPECT_EQ(racy > 0, !mechanism.orders);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, Pairs, testing::Range<std::size_t>(0, std::size(kMechanisms)));

}  // namespace
}  // namespace baton::test
