// Whether nobody goes on, found by looking at one host after the other while messages travel between them.
#include <array>

#include <gtest/gtest.h>

#include "atomics.hpp"
#include "comm/hosts_stillness.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

using comm::HostStillness;
using Round = std::array<HostStillness, 2>;

/// A host with one thread, and what a look at one moment shows of it, which is what look_for_stillness() finds
/// (stillness_test.cpp): whether it sleeps, and its counts.
class ShownHost {
 public:
  /// As a futex: to find nobody calling and to fall asleep is one step.
  void sleep() {
    std::uint32_t seen = word_.load();
    while (true) {
      if ((seen & kCalled) != 0) {
        if (word_.compare_exchange_strong(seen, seen & ~kCalled)) return;
        continue;
      }
      const std::uint32_t asleep = seen | kAsleep;
      if (!word_.compare_exchange_strong(seen, asleep)) continue;
      ModelRules::wait(word_, asleep, kNever, FutexScope::process);
      seen = word_.load();
    }
  }
  void sleep_for_good() { word_.fetch_add(kAsleep); }
  void call() {
    std::uint32_t seen = word_.load();
    while (!word_.compare_exchange_strong(seen, (seen | kCalled) & ~kAsleep)) continue;
    ModelRules::wake_all(word_, FutexScope::process);
  }
  void count_sent() { word_.fetch_add(kSent); }
  void count_done() { word_.fetch_add(kDone); }

  /// Its thread is in the same wait from the beginning to the end.
  [[nodiscard]] HostStillness look() const {
    const std::uint32_t seen = word_.load();
    return {.found = (seen & kAsleep) != 0 ? comm::Found::still : comm::Found::uneasy,
            .waits = 1,
            .sent = seen / kSent % (kDone / kSent),
            .done = seen / kDone};
  }

 private:
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kCalled = 2;
  static constexpr std::uint32_t kSent = 4;
  static constexpr std::uint32_t kDone = 64;
  ModelAtomic<std::uint32_t> word_{0};
};

/// Two hosts, and what carries messages between them, which nobody can look at.
struct World {
  std::array<ShownHost, 2> hosts;
  std::array<ModelAtomic<std::uint32_t>, 2> posted{0U, 0U};  // to this host
  std::array<ModelAtomic<std::uint32_t>, 2> taken{0U, 0U};   // by this host

  explicit World(Scenario& scenario) {
    for (const auto& host : hosts) scenario.name("host", host);
    for (const auto& word : posted) scenario.name("posted", word);
    for (const auto& word : taken) scenario.name("taken", word);
  }
  void send(std::size_t from) {
    hosts[from].count_sent();
    add(posted[1 - from]);
  }
  /// Sleeps until somebody has called for the next message.
  void receive(std::size_t host) {
    hosts[host].sleep();
    hosts[host].count_done();
    add(taken[host]);
  }
  /// The message to `host` with this number, from 1 on: some time after it was sent, and after the one before it.
  void carry(std::size_t host, std::uint32_t number) {
    await(posted[host], number);
    await(taken[host], number - 1);
    hosts[host].call();
  }

 private:
  static void add(ModelAtomic<std::uint32_t>& word) {
    word.fetch_add(1);
    ModelRules::wake_all(word, FutexScope::process);
  }
  static void await(ModelAtomic<std::uint32_t>& word, std::uint32_t count) {
    for (std::uint32_t seen = word.load(); seen < count; seen = word.load()) {
      ModelRules::wait(word, seen, kNever, FutexScope::process);
    }
  }
};

Round look_at_all(const World& world) { return {world.hosts[0].look(), world.hosts[1].look()}; }

bool looks_twice(World& world) {
  const Round first = look_at_all(world);
  return comm::nobody_goes_on(first, look_at_all(world));
}

bool looks_once(World& world) {
  const Round only = look_at_all(world);
  return comm::nobody_goes_on(only, only);
}

bool does_not_count(World& world) {
  const auto look = [&world] {
    Round round = look_at_all(world);
    for (HostStillness& host : round) host.sent = host.done = 0;
    return round;
  };
  const Round first = look();
  return comm::nobody_goes_on(first, look());
}

/// One message there, one or two back. The one that gets the last of them goes on.
template <class Looks>
Report look_while_messages_travel(const char* name, Looks looks, std::uint32_t back, Options options = {}) {
  return explore(
      name,
      [looks, back](Scenario& scenario) {
        auto& world = scenario.make<World>(scenario);
        scenario.thread("one", [&world, back] {
          world.receive(0);
          for (std::uint32_t i = 0; i < back; ++i) world.send(0);
          world.hosts[0].sleep_for_good();
        });
        scenario.thread("other", [&world, back] {
          world.send(1);
          for (std::uint32_t i = 0; i < back; ++i) world.receive(1);
          // It ends, awake.
        });
        scenario.thread("wire", [&world, back] {
          world.carry(0, 1);
          for (std::uint32_t i = 1; i <= back; ++i) world.carry(1, i);
        });
        scenario.thread("looker", [&world, looks] { require(!looks(world), "one of them goes on in the end"); });
      },
      options);
}

TEST(HostsStillness, MessagesOnTheirWayAreNotOverlooked) {
  expect_holds(look_while_messages_travel("hosts: one back", looks_twice, 1));
  expect_holds(look_while_messages_travel("hosts: two back", looks_twice, 2, {.preemptions = 3}));
}

TEST(HostsStillness, ThoseThatSleepForGoodAreFound) {
  expect_holds(explore("hosts: found", [](Scenario& scenario) {
    auto& world = scenario.make<World>(scenario);
    const Thread one = scenario.thread("one", [&world] {
      world.receive(0);
      world.hosts[0].sleep_for_good();
    });
    const Thread other = scenario.thread("other", [&world] {
      world.send(1);
      world.hosts[1].sleep_for_good();
    });
    const Thread wire = scenario.thread("wire", [&world] { world.carry(0, 1); });
    scenario.thread("looker", [&world, one, other, wire] {
      for (const Thread thread : {one, other, wire}) wait_for_end(thread);
      require(looks_twice(world), "all sleep, and nothing is on its way");
    });
  }));
}

TEST(BrokenHostsStillness, EachHostIsLookedAtOnce) {
  expect_violation(look_while_messages_travel("hosts: one look", looks_once, 2), Violation::requirement);
}

TEST(BrokenHostsStillness, MessagesAreNotCounted) {
  expect_violation(look_while_messages_travel("hosts: no counts", does_not_count, 2), Violation::requirement);
}

}  // namespace
}  // namespace baton::model
