// Writing to memory of another rank: nobody writes there after its owner took it back.
#include <gtest/gtest.h>

#include "atomics.hpp"
#include "collectives/write_gate.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

constexpr std::uint64_t kCall = 3;

using Gate = collectives::BasicWriteGate<ModelRules>;

/// The writer does not look.
struct NobodyLooks : Gate {
  [[nodiscard]] static bool enter(const Word& /*first*/, Word& writing, std::uint64_t call) noexcept {
    writing.store(call, std::memory_order_seq_cst);
    return true;
  }
};
/// It looks before it says that it writes.
struct LooksFirst : Gate {
  [[nodiscard]] static bool enter(const Word& first, Word& writing, std::uint64_t call) noexcept {
    if (is_closed(first.load(std::memory_order_seq_cst), call)) return false;
    writing.store(call, std::memory_order_seq_cst);
    return true;
  }
};
/// The owner does not wait.
struct NobodyWaits : Gate {
  [[nodiscard]] static bool is_inside(const Word& /*writing*/, std::uint64_t /*call*/) noexcept { return false; }
};
/// All words are released and acquired, and no more.
struct WeakOrders {
  static std::memory_order load(std::memory_order /*order*/) noexcept { return std::memory_order_acquire; }
  static std::memory_order store(std::memory_order /*order*/) noexcept { return std::memory_order_release; }
  static std::memory_order update(std::memory_order /*order*/) noexcept { return std::memory_order_acq_rel; }
};

template <class Gate>
struct World {
  typename Gate::Word first{0};
  typename Gate::Word writing{0};
  ModelVar<int> memory{0};

  explicit World(Scenario& scenario) {
    scenario.name("first", first);
    scenario.name("writing", writing);
  }
  void write() {
    if (!Gate::enter(first, writing, kCall)) return;
    memory.write(1);
    Gate::leave(writing);
  }
  void take_back() {
    Gate::close(first, kCall);
    while (Gate::is_inside(writing, kCall)) pause();
    memory.write(2);
  }
};

/// With `others` who give the same call up, or the one before it.
template <class Gate>
Report write_and_take_back(const char* name, std::initializer_list<std::uint64_t> others = {}) {
  return explore(name, [others = std::vector(others)](Scenario& scenario) {
    auto& world = scenario.make<World<Gate>>(scenario);
    scenario.thread("writer", [&world] { world.write(); });
    scenario.thread("owner", [&world] { world.take_back(); });
    for (const std::uint64_t call : others)
      scenario.thread("another", [&world, call] { Gate::close(world.first, call); });
  });
}

TEST(WriteGate, NobodyWritesWhatWasTakenBack) {
  expect_holds(write_and_take_back<Gate>("write gate"));
  expect_holds(write_and_take_back<Gate>("write gate: another gives up, too", {kCall}));
  expect_holds(write_and_take_back<Gate>("write gate: another gave up before", {kCall - 1}));
  expect_holds(write_and_take_back<Gate>("write gate: another gives up the next call", {kCall + 1}));
}

TEST(BrokenWriteGate, IsFound) {
  expect_violation(write_and_take_back<NobodyLooks>("the writer does not look"), Violation::race);
  expect_violation(write_and_take_back<LooksFirst>("the writer looks first"), Violation::race);
  expect_violation(write_and_take_back<NobodyWaits>("the owner does not wait"), Violation::race);
  expect_violation(write_and_take_back<collectives::BasicWriteGate<BasicModelRules<WeakOrders>>>("weak orders"),
                   Violation::race);
}

}  // namespace
}  // namespace baton::model
