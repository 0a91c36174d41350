// Doorbells with one thing wrong: the exploration finds the sleeper that nobody wakes.
#include <gtest/gtest.h>

#include "base/doorbell.hpp"
#include "explore.hpp"
#include "waiting.hpp"

namespace baton::model {
namespace {

constexpr auto kScope = FutexScope::process;
constexpr Thread kWaiter = 0;
constexpr Thread kRinger = 1;

template <class Doorbell>
struct World {
  Doorbell bell;
  ModelAtomic<std::uint32_t> level{0};
};

/// The order in which the change and the test are made.
struct Orders {
  std::memory_order change = std::memory_order_seq_cst;
  std::memory_order test = std::memory_order_seq_cst;
};

template <class Doorbell>
Report one_waiter_one_ringer(const char* name, Orders orders = {}) {
  return explore(name, [orders](Scenario& scenario) {
    auto& world = scenario.make<World<Doorbell>>();
    scenario.name("bell", world.bell, {"rings", "sleepers"});
    scenario.name("level", world.level);
    scenario.thread("waiter",
                    [&world, orders] { wait_on(world.bell, [&] { return world.level.load(orders.test) == 1; }); });
    scenario.thread("ringer", [&world, orders] {
      world.level.store(1, orders.change);
      world.bell.ring(kScope);
    });
  });
}

template <class ReplacedOrders>
using ProductionDoorbell = BasicDoorbell<BasicModelRules<ReplacedOrders>>;

TEST(BrokenDoorbell, ProductionCodeWithoutSequentialConsistency) {
  expect_violation(one_waiter_one_ringer<ProductionDoorbell<WithoutSeqCst>>("doorbell with acquire and release"),
                   Violation::deadlock);
  expect_violation(
      one_waiter_one_ringer<ProductionDoorbell<OnlyIn<kRinger, WithoutSeqCst>>>("ringer with acquire and release"),
      Violation::deadlock);
  expect_violation(
      one_waiter_one_ringer<ProductionDoorbell<OnlyIn<kWaiter, WithoutSeqCst>>>("waiter with acquire and release"),
      Violation::deadlock);
}

TEST(BrokenDoorbell, ProductionCodeRelaxed) {
  expect_violation(one_waiter_one_ringer<ProductionDoorbell<OnlyIn<kRinger, Relaxed>>>("relaxed ringer"),
                   Violation::deadlock);
  expect_violation(one_waiter_one_ringer<ProductionDoorbell<OnlyIn<kWaiter, Relaxed>>>("relaxed waiter"),
                   Violation::deadlock);
}

TEST(BrokenDoorbell, ChangeOrTestTooWeak) {
  expect_violation(one_waiter_one_ringer<ProductionDoorbell<AsWritten>>("change with release",
                                                                        {.change = std::memory_order_release}),
                   Violation::deadlock);
  expect_violation(
      one_waiter_one_ringer<ProductionDoorbell<AsWritten>>("test with acquire", {.test = std::memory_order_acquire}),
      Violation::deadlock);
}

TEST(BrokenDoorbell, RingBeforeTheChange) {
  expect_violation(explore("ring before the change",
                           [](Scenario& scenario) {
                             auto& world = scenario.make<World<ProductionDoorbell<AsWritten>>>();
                             scenario.name("bell", world.bell, {"rings", "sleepers"});
                             scenario.name("level", world.level);
                             scenario.thread("waiter", [&] {
                               wait_on(world.bell, [&] { return world.level.load(std::memory_order_seq_cst) == 1; });
                             });
                             scenario.thread("ringer", [&] {
                               world.bell.ring(kScope);
                               world.level.store(1, std::memory_order_seq_cst);
                             });
                           }),
                   Violation::deadlock);
}

/// BasicDoorbell::ring() and its words; sleep_unless() is what the derived ones get wrong.
struct HandWritten {
  ModelAtomic<std::uint32_t> rings{0};
  ModelAtomic<std::uint32_t> sleepers{0};

  void ring(FutexScope scope) {
    if (sleepers.load(std::memory_order_seq_cst) == 0) return;
    rings.fetch_add(1, std::memory_order_seq_cst);
    ModelRules::wake_all(rings, scope);
  }
};

struct ReadsRingsAfterTest : HandWritten {
  template <class Test>
  void sleep_unless(Test&& test, Deadline deadline, FutexScope scope) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!test()) {
      const std::uint32_t seen = rings.load(std::memory_order_seq_cst);
      ModelRules::wait(rings, seen, deadline, scope);
    }
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
};

struct DoesNotAnnounce : HandWritten {
  template <class Test>
  void sleep_unless(Test&& test, Deadline deadline, FutexScope scope) {
    const std::uint32_t seen = rings.load(std::memory_order_seq_cst);
    if (!test()) ModelRules::wait(rings, seen, deadline, scope);
  }
};

struct AnnouncesAfterTest : HandWritten {
  template <class Test>
  void sleep_unless(Test&& test, Deadline deadline, FutexScope scope) {
    const std::uint32_t seen = rings.load(std::memory_order_seq_cst);
    if (test()) return;
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    ModelRules::wait(rings, seen, deadline, scope);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
};

TEST(BrokenDoorbell, StepsInAnotherOrder) {
  expect_violation(one_waiter_one_ringer<ReadsRingsAfterTest>("rings read after the test"), Violation::deadlock);
  expect_violation(one_waiter_one_ringer<DoesNotAnnounce>("no announcement"), Violation::deadlock);
  expect_violation(one_waiter_one_ringer<AnnouncesAfterTest>("announcement after the test"), Violation::deadlock);
}

}  // namespace
}  // namespace baton::model
