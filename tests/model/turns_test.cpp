// Whose turn it is to look for messages: none is left lying while a thread sleeps until it has come.
//
// Time does not pass here: the thread of the path that rests is not woken by the end of its lease, but once, as if it
// had just ended. So what holds is that those who fall asleep need no lease.
#include <gtest/gtest.h>

#include "atomics.hpp"
#include "comm/backends/ucx/turns.hpp"
#include "explore.hpp"
#include "waiting.hpp"

namespace baton::model {
namespace {

using ucx::Next;

constexpr auto kScope = FutexScope::process;
constexpr int kPreemptions = 2;

/// The network of a rank, and the alarm that goes off once when something has come.
class Network {
 public:
  void send() {
    arrived_.fetch_add(1);
    change(kArmed, kWentOff);
  }
  void arm() {
    change(kOff, kArmed);
    if (arrived_.load() != 0) change(kArmed, kWentOff);
  }
  void disarm() { change(kArmed, kOff); }
  /// How many have come since the last time.
  std::uint32_t take() { return arrived_.exchange(0); }
  /// The thread of the path is not needed any more.
  void end() {
    alarm_.store(kEnded);
    ModelRules::wake_all(alarm_, kScope);
  }
  /// Until the alarm has gone off; false at the end.
  bool await_alarm() {
    while (true) {
      const std::uint32_t seen = alarm_.load();
      if (seen == kEnded) return false;
      if (seen == kWentOff && change(kWentOff, kOff)) return true;
      ModelRules::wait(alarm_, seen, kNever, kScope);
    }
  }

 private:
  static constexpr std::uint32_t kOff = 0;
  static constexpr std::uint32_t kArmed = 1;
  static constexpr std::uint32_t kWentOff = 2;
  static constexpr std::uint32_t kEnded = 3;

  bool change(std::uint32_t from, std::uint32_t to) {
    if (!alarm_.compare_exchange_strong(from, to)) return false;
    if (to == kWentOff) ModelRules::wake_all(alarm_, kScope);
    return true;
  }

  ModelAtomic<std::uint32_t> arrived_{0};
  ModelAtomic<std::uint32_t> alarm_{0};
};

class Lock {
 public:
  bool try_lock() {
    std::uint32_t seen = 0;
    return word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void lock() {
    while (!try_lock()) ModelRules::wait(word_, std::uint32_t{1}, kNever, kScope);
  }
  void unlock() {
    word_.store(0, std::memory_order_release);
    ModelRules::wake_all(word_, kScope);
  }

 private:
  ModelAtomic<std::uint32_t> word_{0};
};

using Turns = ucx::BasicTurns<ModelRules>;

/// Wakes nobody and arms nothing: as if the thread were always on its feet.
struct FallsAsleepUnseen : Turns {
  template <class Arm>
  [[nodiscard]] static bool begin_sleep(const Arm& /*arm*/) noexcept {
    return true;
  }
};
/// Rests although somebody sleeps.
struct ForgetsSleepers : Turns {
  template <class Arm>
  [[nodiscard]] bool begin_sleep(const Arm& arm) noexcept {
    const bool armed = Turns::begin_sleep(arm);
    Turns::end_sleep();
    return armed;
  }
  static void end_sleep() noexcept {}
};

/// Disarms the alarm although somebody sleeps.
struct DisarmsSleepers : Turns {
  [[nodiscard]] bool disarms(std::uint32_t most_wakes) noexcept {
    Turns::end_sleep();
    const bool disarmed = Turns::disarms(most_wakes);
    if (disarmed) static_cast<void>(Turns::begin_sleep([] { return false; }));
    return disarmed;
  }
};

/// A rank with a path, as UcxPath is one.
template <class Turns>
struct World {
  Network network;
  Lock lock;
  Turns turns;
  BasicDoorbell<ModelRules> bell;
  ModelAtomic<std::uint32_t> signal{0};

  explicit World(Scenario& scenario) {
    scenario.name("network", network, {"arrived", "alarm"});
    scenario.name("lock", lock);
    scenario.name("turns", turns, {"sleepers", "looked", "armed"});
    scenario.name("bell", bell, {"rings", "sleepers"});
    scenario.name("signal", signal);
  }

  bool work() {
    const std::uint32_t came = network.take();
    if (came == 0) return false;
    signal.fetch_add(came);
    bell.ring(kScope);
    return true;
  }
  bool settle() {
    work();
    network.arm();
    return true;
  }
  void progress() {
    turns.look();
    if (!lock.try_lock()) return;
    if (work() && turns.disarms(1)) network.disarm();
    lock.unlock();
  }

  /// The rank: looks itself, then sleeps.
  void wait_for(std::uint32_t value) {
    const auto came = [&] {
      progress();
      return signal.load() >= value;
    };
    if (came()) return;
    lock.lock();
    require(turns.begin_sleep([&] { return settle(); }), "armed");
    lock.unlock();
    wait_on(bell, came);
    turns.end_sleep();
  }
  /// The thread of the path.
  void attend() {
    bool went_off = false;
    do {
      if (!went_off && turns.rests_on()) continue;
      lock.lock();
      const Next next = turns.take(
          went_off, [&] { work(); }, [&] { return settle(); });
      lock.unlock();
      require(next != Next::again, "there is an end");
    } while ((went_off = network.await_alarm()));
  }
};

template <class Turns>
Report messages_to_a_waiter(const char* name, std::uint32_t messages) {
  const auto make = [messages](Scenario& scenario) {
    auto& world = scenario.make<World<Turns>>(scenario);
    std::vector<Act> waits;
    for (std::uint32_t message = 1; message <= messages; ++message)
      waits.emplace_back([&world, message] { world.wait_for(message); });
    waits.emplace_back([&world] { world.network.end(); });
    scenario.thread("rank", waits);
    scenario.thread("path", [&world] { world.attend(); });
    scenario.thread("peer", [&world, messages] {
      for (std::uint32_t message = 0; message < messages; ++message) world.network.send();
    });
  };
  // All of them would be millions.
  return explore(name, make, {.preemptions = kPreemptions});
}

TEST(Turns, NoMessageIsLeftLyingWhileTheRankSleeps) {
  expect_holds(messages_to_a_waiter<Turns>("turns: one message", 1));
  expect_holds(messages_to_a_waiter<Turns>("turns: two messages", 2));
}

TEST(BrokenTurns, FallsAsleepUnseen) {
  expect_violation(messages_to_a_waiter<FallsAsleepUnseen>("falls asleep unseen", 1), Violation::deadlock);
}

TEST(BrokenTurns, DisarmsSleepers) {
  expect_violation(messages_to_a_waiter<DisarmsSleepers>("disarms sleepers", 2), Violation::deadlock);
}

TEST(BrokenTurns, ForgetsSleepers) {
  expect_violation(messages_to_a_waiter<ForgetsSleepers>("forgets sleepers", 2), Violation::deadlock);
}

}  // namespace
}  // namespace baton::model
