// Leaving out what only repeats loses nothing: the same outcomes as with every interleaving, the same states as without
// leaving out orders.
#include <gtest/gtest.h>

#include "base/doorbell.hpp"
#include "explore.hpp"
#include "waiting.hpp"

namespace baton::model {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto seq_cst = std::memory_order_seq_cst;

struct Case {
  const char* name;
  MakeScenario make_scenario;
  Options options = {};
};

struct World {
  BasicDoorbell<ModelRules> bell;
  ModelAtomic<std::uint32_t> word{0};
  ModelAtomic<std::uint32_t> flag{0};
  ModelVar<int> data{0};
};

void sleeper_waker_and_spinner(Scenario& scenario) {
  auto& world = scenario.make<World>();
  scenario.thread("sleeper", [&world] {
    ModelRules::wait(world.word, 0U, kNever, FutexScope::process);
    observe(world.word.load(relaxed));
    observe(world.flag.load(acquire));
  });
  scenario.thread("waker", [&world] {
    world.data.write(1);
    world.flag.store(1, release);
    world.word.store(1, relaxed);
    ModelRules::wake_all(world.word, FutexScope::process);
  });
  scenario.thread("spinner", [&world] {
    while (world.flag.load(acquire) == 0) pause();
    observe(static_cast<std::uint64_t>(world.data.read()));
    world.word.store(2, relaxed);
  });
}

void stores_and_updates_of_all_orders(Scenario& scenario) {
  auto& world = scenario.make<World>();
  scenario.thread("a", [&world] {
    world.word.store(1, relaxed);
    observe(world.word.fetch_add(10, seq_cst));
    observe(world.flag.load(seq_cst));
  });
  scenario.thread("b", [&world] {
    world.flag.store(1, seq_cst);
    std::uint32_t expected = 1;
    observe(world.word.compare_exchange_strong(expected, 5, acquire, relaxed));
    observe(expected);
  });
  scenario.thread("c", [&world] { observe(world.word.exchange(7, release)); });
  scenario.at_end([&world] { observe(world.word.load()); });
}

void two_waiters(Scenario& scenario) {
  auto& world = scenario.make<World>();
  for (const char* name : {"waiter 1", "waiter 2"}) {
    scenario.thread(name, [&world] {
      wait_on(world.bell, [&] { return world.flag.load(seq_cst) == 1; });
      observe(world.bell.sleepers());
    });
  }
  scenario.thread("ringer", [&world] {
    world.flag.store(1, seq_cst);
    world.bell.ring(FutexScope::process);
  });
}

void one_waiter(Scenario& scenario) {
  auto& world = scenario.make<World>();
  scenario.thread("waiter", [&world] {
    wait_on(world.bell, [&] { return world.flag.load(seq_cst) == 1; });
    observe(world.word.load(relaxed));
  });
  const Thread ringer = scenario.thread("ringer", [&world] {
    world.word.store(1, relaxed);
    world.flag.store(1, seq_cst);
    world.bell.ring(FutexScope::process);
  });
  scenario.may_stop(ringer);
  scenario.thread("monitor", [&world, ringer] {
    if (wait_for_end(ringer) == Ending::finished) return;
    world.flag.store(1, seq_cst);
    world.bell.ring_always(FutexScope::process);
  });
}

TEST(Reduction, LosesNoOutcome) {
  const Case cases[] = {
      {"sleeper, waker and spinner", sleeper_waker_and_spinner},
      {"stores and updates of all orders", stores_and_updates_of_all_orders},
      {"one waiter", one_waiter},
      {"one waiter, spurious wake-ups", one_waiter, {.spurious_wakeups = 1}},
  };
  for (const Case& one : cases) {
    Options options = one.options;
    const Report all = explore(one.name, one.make_scenario, options);
    options.reduction = Reduction::none;
    const Report none = explore(one.name, one.make_scenario, options);
    expect_holds(all);
    expect_holds(none);
    EXPECT_EQ(all.outcomes, none.outcomes);
    EXPECT_LT(all.executions, none.executions);
  }
}

TEST(Reduction, LosesNoState) {
  const Case cases[] = {
      {"sleeper, waker and spinner", sleeper_waker_and_spinner},
      {"stores and updates of all orders", stores_and_updates_of_all_orders},
      {"one waiter, spurious wake-ups", one_waiter, {.spurious_wakeups = 2}},
      {"two waiters", two_waiters},
      {"two waiters, spurious wake-ups", two_waiters, {.spurious_wakeups = 1}},
  };
  for (const Case& one : cases) {
    Options options = one.options;
    const Report all = explore(one.name, one.make_scenario, options);
    options.reduction = Reduction::states;
    const Report states = explore(one.name, one.make_scenario, options);
    EXPECT_EQ(all.states, states.states);
    EXPECT_EQ(all.outcomes, states.outcomes);
    EXPECT_LT(all.executions, states.executions);
  }
}

}  // namespace
}  // namespace baton::model
