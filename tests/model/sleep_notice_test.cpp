// The notice of a thread that is about to sleep: no work is left lying.
#include <gtest/gtest.h>

#include "base/sleep_notice.hpp"
#include "explore.hpp"
#include "waiting.hpp"

namespace baton::model {
namespace {

constexpr auto kScope = FutexScope::process;

/// Both fences change one word, as they do where the system has nothing better.
struct Fenced : ModelRules {
  static inline ModelAtomic<std::uint32_t>* word = nullptr;
  static void light_fence() noexcept { word->fetch_add(1, std::memory_order_seq_cst); }
  static void heavy_fence() noexcept { word->fetch_add(1, std::memory_order_seq_cst); }
};
struct WithoutLightFence : Fenced {
  static void light_fence() noexcept {}
};
struct WithoutHeavyFence : Fenced {
  static void heavy_fence() noexcept {}
};

using Notice = BasicSleepNotice<Fenced>;
struct SleepsWhenSeen : Notice {
  [[nodiscard]] static bool was_seen() noexcept { return false; }
};

template <class Notice>
struct World {
  BasicDoorbell<ModelRules> bell;
  Notice notice;
  ModelAtomic<std::uint32_t> fences{0};
  ModelAtomic<std::uint32_t> handed{0};

  explicit World(Scenario& scenario) {
    scenario.name("bell", bell, {"rings", "sleepers"});
    scenario.name("fences", fences);
    scenario.name("handed", handed);
    Fenced::word = &fences;
  }

  /// As the threads of a chip: nothing to do, so the notice and a last look; then all that is there.
  void work(std::uint32_t pieces) {
    std::uint32_t done = 0;
    while (done < pieces) {
      const auto called = [&] { return notice.was_seen() || handed.load(std::memory_order_seq_cst) > done; };
      notice.announce();
      bell.sleep_unless(called, kNever, kScope);
      notice.withdraw();
      done = handed.load(std::memory_order_acquire);
    }
  }
  void hand_over(std::uint32_t pieces) {
    for (std::uint32_t piece = 1; piece <= pieces; ++piece) {
      handed.store(piece, std::memory_order_release);
      notice.wake(bell, kScope);
    }
  }
};

template <class Notice>
Report hand_over_and_work(const char* name, std::uint32_t pieces) {
  return explore(name, [pieces](Scenario& scenario) {
    auto& world = scenario.make<World<Notice>>(scenario);
    scenario.thread("worker", [&world, pieces] { world.work(pieces); });
    scenario.thread("submitter", [&world, pieces] { world.hand_over(pieces); });
  });
}

TEST(SleepNotice, NoWorkIsLeftLying) {
  expect_holds(hand_over_and_work<Notice>("sleep notice: one piece", 1));
  expect_holds(hand_over_and_work<Notice>("sleep notice: two pieces", 2));
}

TEST(BrokenSleepNotice, SleepsAlthoughItWasSeen) {
  expect_violation(hand_over_and_work<SleepsWhenSeen>("sleeps although it was seen", 2), Violation::deadlock);
}

TEST(BrokenSleepNotice, WithoutAFence) {
  expect_violation(hand_over_and_work<BasicSleepNotice<WithoutLightFence>>("no light fence", 1), Violation::deadlock);
  expect_violation(hand_over_and_work<BasicSleepNotice<WithoutHeavyFence>>("no heavy fence", 1), Violation::deadlock);
}

}  // namespace
}  // namespace baton::model
