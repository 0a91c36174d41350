// Barriers with one thing wrong: the exploration finds the lost arrival, the stale data or the sleeper nobody wakes.
#include <gtest/gtest.h>

#include "barrier_world.hpp"
#include "comm/barrier_protocol.hpp"

namespace baton::model {
namespace {

struct RelaxedStores : AsWritten {
  static std::memory_order store(std::memory_order) noexcept { return std::memory_order_relaxed; }
};
struct RelaxedLoads : AsWritten {
  static std::memory_order load(std::memory_order) noexcept { return std::memory_order_relaxed; }
};
struct RelaxedUpdates : AsWritten {
  static std::memory_order update(std::memory_order) noexcept { return std::memory_order_relaxed; }
};

template <class Orders>
Report production_with(const char* name, Waiting waiting) {
  using Words = ModelBarrierWords<Orders>;
  return explore_barrier<comm::BarrierProtocol<Words>, Words>(name, {.members = 2, .rounds = 2, .waiting = waiting});
}

TEST(BrokenBarrier, ProductionCodeRelaxed) {
  expect_violation(production_with<RelaxedStores>("released published relaxed", Waiting::spinning), Violation::race);
  expect_violation(production_with<RelaxedLoads>("released read relaxed", Waiting::spinning), Violation::race);
  expect_violation(production_with<RelaxedUpdates>("arrivals relaxed", Waiting::spinning), Violation::race);
}

TEST(BrokenBarrier, ProductionCodeWithoutSequentialConsistency) {
  expect_holds(production_with<WithoutSeqCst>("acquire and release, spinning", Waiting::spinning));
  expect_violation(production_with<WithoutSeqCst>("acquire and release, parked", Waiting::parked), Violation::deadlock);
}

using Words = ModelBarrierWords<AsWritten>;

/// What the broken ones share with a barrier whose counter is reset for each use.
struct Resetting {
  enum class Arrival : std::uint8_t { must_wait, completed };
  static bool passed(const Words& words, std::uint64_t epoch) {
    return words.released.load(std::memory_order_seq_cst) >= epoch;
  }
};

struct AdvancesThenResets : Resetting {
  static Arrival arrive(Words& words, std::uint64_t epoch, std::uint64_t members) {
    if (words.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != members) return Arrival::must_wait;
    words.released.store(epoch, std::memory_order_seq_cst);
    words.arrived.store(0, std::memory_order_seq_cst);
    return Arrival::completed;
  }
};

template <std::memory_order advance>
struct ResetsThenAdvances : Resetting {
  static Arrival arrive(Words& words, std::uint64_t epoch, std::uint64_t members) {
    if (words.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != members) return Arrival::must_wait;
    words.arrived.store(0, std::memory_order_relaxed);
    words.released.store(epoch, advance);
    return Arrival::completed;
  }
};

TEST(BrokenBarrier, ResetAfterTheAdvanceLosesAnArrival) {
  expect_violation(explore_barrier<AdvancesThenResets, Words>("advances, then resets", {.members = 2, .rounds = 2}),
                   Violation::deadlock);
}

TEST(BrokenBarrier, ResetBeforeTheAdvanceNeedsItsOrder) {
  expect_holds(explore_barrier<ResetsThenAdvances<std::memory_order_release>, Words>(
      "resets, then advances with release", {.members = 2, .rounds = 3}));
  const Report relaxed = explore_barrier<ResetsThenAdvances<std::memory_order_relaxed>, Words>(
      "resets, then advances relaxed", {.members = 2, .rounds = 2});
  EXPECT_TRUE(relaxed.failure.has_value());
}

struct CompletesOneEarly : Resetting {
  static Arrival arrive(Words& words, std::uint64_t epoch, std::uint64_t members) {
    const std::uint64_t earlier = words.arrived.fetch_add(1, std::memory_order_acq_rel);
    if (earlier + 2 != epoch * members) return Arrival::must_wait;
    words.released.store(epoch, std::memory_order_seq_cst);
    return Arrival::completed;
  }
};

TEST(BrokenBarrier, ReleasingBeforeTheLastArrivalIsARace) {
  expect_violation(explore_barrier<CompletesOneEarly, Words>("released one arrival early", {.members = 3, .rounds = 1}),
                   Violation::race);
}

struct WithdrawsWithoutLooking : comm::BarrierProtocol<Words> {
  static bool withdraw(Words& words, std::uint64_t, std::uint64_t) {
    words.arrived.fetch_sub(1, std::memory_order_acquire);
    return true;
  }
};

struct WithdrawsBlindly : comm::BarrierProtocol<Words> {
  static bool withdraw(Words& words, std::uint64_t epoch, std::uint64_t members) {
    std::uint64_t arrived = words.arrived.load(std::memory_order_relaxed);
    while (arrived < epoch * members) {
      if (words.arrived.compare_exchange_weak(arrived, arrived - 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }
};

TEST(BrokenBarrier, WithdrawingMustNoticeThatTheBarrierIsComplete) {
  const BarrierUse use = {.members = 2, .rounds = 2, .impatient = 2};
  expect_violation(explore_barrier<WithdrawsWithoutLooking, Words>("withdraws without looking", use), Violation::race);
  expect_violation(explore_barrier<WithdrawsBlindly, Words>("finds itself released without acquiring", use),
                   Violation::race);
}

}  // namespace
}  // namespace baton::model
