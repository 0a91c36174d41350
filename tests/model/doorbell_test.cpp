// The production doorbell: nobody sleeps through a change.
#include <gtest/gtest.h>

#include "base/doorbell.hpp"
#include "explore.hpp"
#include "waiting.hpp"

namespace baton::model {
namespace {

constexpr auto seq_cst = std::memory_order_seq_cst;
constexpr auto kScope = FutexScope::process;

struct World {
  BasicDoorbell<ModelRules> bell;
  ModelAtomic<std::uint32_t> level{0};
  ModelAtomic<std::uint32_t> dead{0};
  ModelVar<int> data{0};

  explicit World(Scenario& scenario) {
    scenario.name("bell", bell, {"rings", "sleepers"});
    scenario.name("level", level);
    scenario.name("dead", dead);
    scenario.name("data", data);
  }
  void wait_for_level(std::uint32_t wanted) {
    wait_on(bell, [this, wanted] { return level.load(seq_cst) >= wanted; });
  }
  void store_level_and_ring(std::uint32_t value) {
    level.store(value, seq_cst);
    bell.ring(kScope);
  }
  void raise_level_and_ring() {
    level.fetch_add(1, seq_cst);
    bell.ring(kScope);
  }
};

TEST(Doorbell, OneWaiterOneRinger) {
  expect_holds(explore("doorbell: one waiter, one ringer that stores", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    scenario.thread("waiter", [&] {
      world.wait_for_level(1);
      require(world.data.read() == 7, "what was written before the change is visible after the wait");
    });
    scenario.thread("ringer", [&] {
      world.data.write(7);
      world.store_level_and_ring(1);
    });
  }));
  expect_holds(explore("doorbell: one waiter, one ringer that adds", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    scenario.thread("waiter", [&] { world.wait_for_level(1); });
    scenario.thread("ringer", [&] { world.raise_level_and_ring(); });
  }));
}

TEST(Doorbell, TwoWaitersOneRinger) {
  expect_holds(explore("doorbell: two waiters, one ringer", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    for (const char* name : {"waiter 1", "waiter 2"}) {
      scenario.thread(name, [&] { world.wait_for_level(1); });
    }
    scenario.thread("ringer", [&] { world.store_level_and_ring(1); });
  }));
  expect_holds(explore("doorbell: two waiters for different changes", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    scenario.thread("waiter 1", [&] { world.wait_for_level(1); });
    scenario.thread("waiter 2", [&] { world.wait_for_level(2); });
    scenario.thread("ringer", [&] {
      world.store_level_and_ring(1);
      world.store_level_and_ring(2);
    });
  }));
}

TEST(Doorbell, OneWaiterTwoRingers) {
  expect_holds(explore("doorbell: one waiter, two ringers", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    scenario.thread("waiter", [&] { world.wait_for_level(2); });
    for (const char* name : {"ringer 1", "ringer 2"}) {
      scenario.thread(name, [&] { world.raise_level_and_ring(); });
    }
  }));
}

TEST(Doorbell, RepeatedUse) {
  expect_holds(explore("doorbell: four waits in a row", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    std::vector<Act> waits;
    std::vector<Act> changes;
    for (std::uint32_t level = 1; level <= 4; ++level) {
      waits.emplace_back([&world, level] { world.wait_for_level(level); });
      changes.emplace_back([&world, level] { world.store_level_and_ring(level); });
    }
    scenario.thread("waiter", waits);
    scenario.thread("ringer", changes);
  }));
}

TEST(Doorbell, PingPong) {
  struct Table {
    BasicDoorbell<ModelRules> bells[2];
    ModelAtomic<std::uint32_t> ball{0};
  };
  expect_holds(explore("doorbell: ping-pong, three times", [](Scenario& scenario) {
    auto& table = scenario.make<Table>();
    for (std::uint32_t me = 0; me < 2; ++me) {
      std::vector<Act> turns;
      for (std::uint32_t turn = me; turn < 6; turn += 2) {
        turns.emplace_back([&table, me, turn] {
          wait_on(table.bells[me], [&] { return table.ball.load(seq_cst) == turn; });
          table.ball.store(turn + 1, seq_cst);
          table.bells[1 - me].ring(kScope);
        });
      }
      scenario.thread(me == 0 ? "ping" : "pong", turns);
    }
  }));
}

TEST(Doorbell, SpuriousWakeUpsDoNoHarm) {
  const Report report =
      explore("doorbell: one waiter, one ringer, two spurious wake-ups",
              [](Scenario& scenario) {
                auto& world = scenario.make<World>(scenario);
                scenario.thread("waiter", [&] { world.wait_for_level(1); });
                scenario.thread("ringer", [&] { world.store_level_and_ring(1); });
                scenario.at_end([&] { require(world.bell.sleepers() == 0, "nobody is announced any more"); });
              },
              {.spurious_wakeups = 2});
  expect_holds(report);
}

TEST(Doorbell, DeathOfTheRingerWakesTheWaiter) {
  expect_holds(explore("doorbell: the ringer is killed at any point", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    scenario.thread("waiter", [&] {
      wait_on(world.bell, [&] { return world.level.load(seq_cst) == 1 || world.dead.load(seq_cst) == 1; });
    });
    const Thread ringer = scenario.thread("ringer", [&] { world.store_level_and_ring(1); });
    scenario.may_stop(ringer);
    scenario.thread("monitor", [&world, ringer] {
      if (wait_for_end(ringer) == Ending::finished) return;
      world.dead.store(1, seq_cst);
      world.bell.ring_always(kScope);
    });
  }));
}

}  // namespace
}  // namespace baton::model
