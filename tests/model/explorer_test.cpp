// The explorer itself: what it notices, and that it never looks complete when it is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "atomics.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

struct Sleeping {
  ModelAtomic<std::uint32_t> word{0};
  ModelAtomic<std::uint32_t> other{0};
};

void sleep_while(ModelAtomic<std::uint32_t>& word, std::uint32_t value) {
  ModelRules::wait(word, value, kNever, FutexScope::process);
}
void wake(ModelAtomic<std::uint32_t>& word) { ModelRules::wake_all(word, FutexScope::process); }

TEST(Explorer, SleeperIsWokenByTheFirstToChangeTheWord) {
  expect_holds(explore("futex", [](Scenario& scenario) {
    auto& world = scenario.make<Sleeping>();
    scenario.thread("sleeper", [&] { sleep_while(world.word, 0); });
    scenario.thread("waker", [&] {
      world.word.store(1, std::memory_order_relaxed);
      wake(world.word);
    });
  }));
}

TEST(Explorer, WakingBeforeTheChangeIsADeadlock) {
  const Report report = explore("wake, then change", [](Scenario& scenario) {
    auto& world = scenario.make<Sleeping>();
    scenario.name("word", world.word);
    scenario.thread("sleeper", [&] { sleep_while(world.word, 0); });
    scenario.thread("waker", [&] {
      wake(world.word);
      world.word.store(1, std::memory_order_relaxed);
    });
  });
  expect_violation(report, Violation::deadlock);
  EXPECT_THAT(report.failure->text, HasSubstr("sleeper sleeps on word"));
  EXPECT_THAT(report.failure->steps,
              ElementsAre(HasSubstr("waker      word: futex wake"), HasSubstr("waker      word: store 1 relaxed"),
                          HasSubstr("sleeper    word: futex wait while 0, reads 0 (1 newer), sleeps")));
}

TEST(Explorer, SpuriousWakeUpsHappenOnRequest) {
  const MakeScenario make_scenario = [](Scenario& scenario) {
    auto& world = scenario.make<Sleeping>();
    scenario.thread("sleeper", [&] {
      sleep_while(world.word, 0);
      observe(world.word.load());
    });
    scenario.thread("waker", [&] {
      world.word.store(1);
      wake(world.word);
    });
  };
  EXPECT_THAT(explore("no spurious wake-up", make_scenario).outcomes, UnorderedElementsAre(ElementsAre(1)));
  EXPECT_THAT(explore("one spurious wake-up", make_scenario, {.spurious_wakeups = 1}).outcomes,
              UnorderedElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Explorer, AThreadMayStopForEver) {
  const auto with_monitor = [](bool monitored) {
    return explore(monitored ? "a stopped waker and a monitor" : "a stopped waker", [=](Scenario& scenario) {
      auto& world = scenario.make<Sleeping>();
      scenario.thread("sleeper", [&world] { sleep_while(world.word, 0); });
      const Thread waker = scenario.thread("waker", [&world] {
        world.word.store(1);
        wake(world.word);
      });
      scenario.may_stop(waker);
      if (!monitored) return;
      scenario.thread("monitor", [&world, waker] {
        if (wait_for_end(waker) == Ending::finished) return;
        world.word.store(2);
        wake(world.word);
      });
    });
  };
  expect_violation(with_monitor(false), Violation::deadlock);
  expect_holds(with_monitor(true));
}

TEST(Explorer, SpinningEndsWhenTheValueCanBeRead) {
  expect_holds(explore("spin", [](Scenario& scenario) {
    auto& world = scenario.make<Sleeping>();
    scenario.thread("spinner", [&] {
      while (world.word.load(std::memory_order_relaxed) < 2) pause();
    });
    scenario.thread("writer", [&] {
      world.word.store(1, std::memory_order_relaxed);
      world.word.store(2, std::memory_order_relaxed);
    });
  }));
  expect_violation(explore("spin in vain",
                           [](Scenario& scenario) {
                             auto& world = scenario.make<Sleeping>();
                             scenario.thread("spinner", [&] {
                               while (world.word.load() < 2) pause();
                             });
                             scenario.thread("writer", [&] { world.word.store(1); });
                           }),
                   Violation::deadlock);
}

TEST(Explorer, LimitsFailInsteadOfTruncating) {
  const MakeScenario make_scenario = [](Scenario& scenario) {
    auto& world = scenario.make<Sleeping>();
    for (const char* name : {"a", "b", "c"}) {
      scenario.thread(name, [&world] {
        for (int i = 0; i < 3; ++i) world.word.fetch_add(1);
      });
    }
  };
  expect_violation(explore("too many states", make_scenario, {.max_states = 10}), Violation::too_large);
  expect_violation(explore("too many steps", make_scenario, {.max_steps = 5}), Violation::endless);
  expect_holds(explore("bounded on request", make_scenario, {.preemptions = 1}));
}

TEST(Explorer, ABoundLimitsWhatIsExplored) {
  const MakeScenario make_scenario = [](Scenario& scenario) {
    auto& world = scenario.make<Sleeping>();
    scenario.thread("a", [&world] {
      observe(world.word.fetch_add(1));
      observe(world.word.fetch_add(1));
    });
    scenario.thread("b", [&world] { observe(world.word.fetch_add(1)); });
  };
  EXPECT_THAT(explore("no preemption", make_scenario, {.preemptions = 0}).outcomes,
              UnorderedElementsAre(ElementsAre(0, 1, 2), ElementsAre(1, 2, 0)));
  EXPECT_THAT(explore("one preemption", make_scenario, {.preemptions = 1}).outcomes,
              UnorderedElementsAre(ElementsAre(0, 1, 2), ElementsAre(1, 2, 0), ElementsAre(0, 2, 1)));
}

TEST(Explorer, ExceptionsAndHiddenStateAreReported) {
  const Report thrown = explore("a thread that throws", [](Scenario& scenario) {
    auto& world = scenario.make<Sleeping>();
    scenario.thread("thrower", [&world] {
      if (world.word.load() == 0) throw std::runtime_error("no luck");
    });
  });
  expect_violation(thrown, Violation::exception);
  EXPECT_THAT(thrown.failure->text, HasSubstr("thrower threw: no luck"));

  int runs = 0;
  expect_violation(explore("a scenario with a memory",
                           [&runs](Scenario& scenario) {
                             auto& world = scenario.make<Sleeping>();
                             ++runs;
                             scenario.thread("a", [&world, odd = runs % 2 == 1] {
                               odd ? world.word.store(1) : world.other.store(1);
                               world.word.store(3);
                             });
                             scenario.thread("b", [&world] { world.word.store(2); });
                           }),
                   Violation::nondeterministic);
}

TEST(Explorer, ActsForgetWhatTheyLearned) {
  const auto rounds = [](bool in_acts) {
    return explore(in_acts ? "three rounds in acts" : "three rounds at a stretch", [=](Scenario& scenario) {
      auto& world = scenario.make<Sleeping>();
      for (const char* name : {"a", "b"}) {
        const Act round = [&world] { world.word.fetch_add(1); };
        if (in_acts) {
          scenario.thread(name, {round, round, round});
        } else {
          scenario.thread(name, [round] {
            for (int i = 0; i < 3; ++i) round();
          });
        }
      }
      scenario.at_end([&world] { require(world.word.load() == 6, "every round counts"); });
    });
  };
  const Report acts = rounds(true);
  const Report stretch = rounds(false);
  expect_holds(acts);
  expect_holds(stretch);
  EXPECT_LT(acts.states, stretch.states);
}

}  // namespace
}  // namespace baton::model
