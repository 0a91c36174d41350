// Whether all threads of a job sleep, found by looking at one after the other while they hand over to each other.
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "atomics.hpp"
#include "comm/stillness_look.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

using comm::Found;

/// What the system shows of a thread: whether it sleeps, whether somebody has called it, and how often it was switched.
class ShownThread {
 public:
  /// As a futex: to find nobody calling and to fall asleep is one step.
  void sleep() {
    std::uint32_t seen = word_.load();
    while (true) {
      if ((seen & kCalled) != 0) {
        if (word_.compare_exchange_strong(seen, seen & ~kCalled)) return;
        continue;
      }
      const std::uint32_t asleep = (seen | kAsleep) + kSwitched;
      if (!word_.compare_exchange_strong(seen, asleep)) continue;
      ModelRules::wait(word_, asleep, kNever, FutexScope::process);
      seen = word_.load();
    }
  }
  void sleep_for_good() { word_.fetch_add(kAsleep + kSwitched); }
  /// It can run from now on, whether or not it has a processor.
  void call() {
    std::uint32_t seen = word_.load();
    while (!word_.compare_exchange_strong(seen, (seen | kCalled) & ~kAsleep)) continue;
    ModelRules::wake_all(word_, FutexScope::process);
  }
  /// How often it was switched, if it sleeps.
  [[nodiscard]] std::optional<std::uint32_t> look() const {
    const std::uint32_t seen = word_.load();
    return (seen & kAsleep) == 0 ? std::nullopt : std::optional(seen / kSwitched);
  }

 private:
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kCalled = 2;
  static constexpr std::uint32_t kSwitched = 4;
  ModelAtomic<std::uint32_t> word_{0};
};

constexpr std::uint32_t kPatient = 1;
constexpr std::uint32_t kImpatient = 2;

struct World {
  std::array<ShownThread, 2> threads;
  std::array<ModelAtomic<std::uint32_t>, 2> records{0U, 0U};

  explicit World(Scenario& scenario) {
    for (const auto& thread : threads) scenario.name("thread", thread);
    for (const auto& record : records) scenario.name("record", record);
  }
  void record(std::size_t rank, std::uint32_t wait) { records[rank].store(wait, std::memory_order_release); }
};

/// A job as it shows itself to look_for_stillness().
class Job {
 public:
  using Numbers = std::array<std::uint32_t, 2>;
  explicit Job(World& world) : world_(world) {}

  std::optional<Numbers> waits() {
    Numbers seen{};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      seen[rank] = world_.records[rank].load(std::memory_order_acquire);
      if (seen[rank] != kPatient) return std::nullopt;
    }
    return seen;
  }
  std::optional<Numbers> sleepers() {
    Numbers seen{};
    for (std::size_t thread = 0; thread < 2; ++thread) {
      const auto switches = world_.threads[thread].look();
      if (!switches) return std::nullopt;
      seen[thread] = *switches;
    }
    return seen;
  }

 private:
  World& world_;
};

struct LooksOnce : Job {
  using Job::Job;
  std::optional<Numbers> first;
  std::optional<Numbers> sleepers() { return first ? first : first = Job::sleepers(); }
};

struct DoesNotCount : Job {
  using Job::Job;
  std::optional<Numbers> sleepers() { return Job::sleepers() ? std::optional(Numbers{}) : std::nullopt; }
};

struct ReadsWaitsFirst : Job {
  using Job::Job;
  std::optional<Numbers> first;
  std::optional<Numbers> waits() { return first ? first : first = Job::waits(); }
};

template <class Sight>
void require_no_alarm(World& world) {
  Sight job(world);
  require(comm::look_for_stillness(job).found != Found::still, "somebody can run, or does not wait for long");
}

/// Both ranks wait all the time, but two other threads of theirs work, in turns.
template <class Sight>
Report look_at_two_in_turns(const char* name, int turns) {
  return explore(name, [turns](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    scenario.thread("one", [&world, turns] {
      world.record(0, kPatient);
      world.record(1, kPatient);
      for (int turn = 0; turn < turns; ++turn) {
        world.threads[1].call();
        world.threads[0].sleep();
      }
    });
    scenario.thread("other", [&world, turns] {
      for (int turn = 0; turn < turns; ++turn) {
        world.threads[1].sleep();
        world.threads[0].call();
      }
      // It ends, awake.
    });
    scenario.thread("looker", [&world] { require_no_alarm<Sight>(world); });
  });
}

/// A rank that can go on waits for something else, which ends by itself.
template <class Sight>
Report look_at_one_that_goes_on(const char* name) {
  return explore(name, [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    scenario.thread("caller", [&world] {
      world.record(0, kPatient);
      world.threads[1].call();
      world.threads[0].sleep_for_good();
    });
    scenario.thread("called", [&world] {
      world.record(1, kPatient);
      world.threads[1].sleep();
      world.record(1, kImpatient);
      world.threads[1].sleep_for_good();
    });
    scenario.thread("looker", [&world] { require_no_alarm<Sight>(world); });
  });
}

TEST(Stillness, ThreadsThatTakeTurnsAreNotTakenForSleepers) {
  expect_holds(look_at_two_in_turns<Job>("stillness: one turn", 1));
  expect_holds(look_at_two_in_turns<Job>("stillness: three turns", 3));
}

TEST(Stillness, WhatRanksWaitForIsWhatTheyWaitForWhileAllSleep) {
  expect_holds(look_at_one_that_goes_on<Job>("stillness: another wait"));
}

TEST(Stillness, ThoseThatSleepForGoodAreFound) {
  expect_holds(explore("stillness: found", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    std::array<Thread, 2> ranks{};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      ranks[rank] = scenario.thread("rank", [&world, rank] {
        world.record(rank, kPatient);
        world.threads[rank].sleep_for_good();
      });
    }
    scenario.thread("looker", [&world, ranks] {
      for (const Thread rank : ranks) wait_for_end(rank);
      Job job(world);
      require(comm::look_for_stillness(job).found == Found::still, "all sleep");
    });
  }));
}

TEST(BrokenStillness, OneLookAtTheThreads) {
  expect_violation(look_at_two_in_turns<LooksOnce>("one look", 2), Violation::requirement);
}

TEST(BrokenStillness, SwitchesAreNotCounted) {
  expect_violation(look_at_two_in_turns<DoesNotCount>("switches are not counted", 3), Violation::requirement);
}

TEST(BrokenStillness, WaitsAreReadBeforeTheThreads) {
  expect_violation(look_at_one_that_goes_on<ReadsWaitsFirst>("waits first"), Violation::requirement);
}

}  // namespace
}  // namespace baton::model
