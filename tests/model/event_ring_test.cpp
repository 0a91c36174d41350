// The ring of events: what a reader gets was written, whole, and in order, also while the writer overtakes it.
#include <gtest/gtest.h>

#include "atomics.hpp"
#include "base/event_ring.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

/// Stores after order_stores() as releases and loads before order_loads() as acquires: what the fences make of them.
struct Fenced : ModelRules {
  struct Orders {
    static std::memory_order load(std::memory_order order) noexcept {
      return order == std::memory_order_relaxed ? std::memory_order_acquire : order;
    }
    static std::memory_order store(std::memory_order order) noexcept {
      return order == std::memory_order_relaxed ? std::memory_order_release : order;
    }
    static std::memory_order update(std::memory_order order) noexcept { return order; }
  };
  template <class T>
  using Atomic = ModelAtomic<T, Orders>;
  static void order_stores() noexcept {}
  static void order_loads() noexcept {}
};
/// Fences that do nothing.
struct Unfenced : Fenced {
  template <class T>
  using Atomic = ModelAtomic<T>;
};
/// `written` tells nothing about the event.
struct AllRelaxed : Fenced {
  template <class T>
  using Atomic = ModelAtomic<T, Relaxed>;
};

constexpr std::size_t kWords = 2;

template <class Rules>
struct World {
  using Writer = BasicRingWriter<Rules, kWords>;

  BasicEventRing<Rules> ring;
  std::vector<BasicEventSlot<Rules, kWords>> slots;
  std::uint64_t capacity;
  std::uint64_t claim;

  World(Scenario& scenario, std::uint64_t slot_count, std::uint64_t claimed_at_once)
      : slots(slot_count), capacity(slot_count), claim(claimed_at_once) {
    scenario.name("written", ring.written);
    scenario.name("claimed", ring.claimed);
    for (auto& slot : slots) {
      for (auto& word : slot.words) scenario.name("word", word);
    }
  }

  void write(std::uint64_t events) {
    Writer writer(ring, slots.data(), capacity, claim);
    for (std::uint64_t event = 1; event <= events; ++event) writer.write({event, event});
  }
  void read() {
    const auto contents = read_ring(ring, slots.data(), capacity);
    for (std::size_t i = 0; i < contents.events.size(); ++i) {
      const auto& words = contents.events[i];
      require(words[0] == contents.first + i + 1 && words[1] == words[0], "an event is whole and where it belongs");
    }
  }
};

template <class Rules>
Report write_and_read(const char* name, std::uint64_t events, std::uint64_t capacity, std::uint64_t claim) {
  return explore(name, [=](Scenario& scenario) {
    auto& world = scenario.make<World<Rules>>(scenario, capacity, claim);
    scenario.thread("writer", [&world, events] { world.write(events); });
    scenario.thread("reader", [&world] { world.read(); });
  });
}

TEST(EventRing, AReaderGetsWholeEventsInOrder) {
  expect_holds(write_and_read<Fenced>("event ring: one after the other", 3, 2, 1));
  expect_holds(write_and_read<Fenced>("event ring: claims of two", 4, 2, 2));
  expect_holds(write_and_read<Fenced>("event ring: not full", 1, 2, 1));
}

TEST(BrokenEventRing, WithoutTheFences) {
  expect_violation(write_and_read<Unfenced>("no fences", 3, 2, 1), Violation::requirement);
}

TEST(BrokenEventRing, WithoutTheReleaseOfTheNumber) {
  expect_violation(write_and_read<AllRelaxed>("all relaxed", 1, 2, 1), Violation::requirement);
}

}  // namespace
}  // namespace baton::model
