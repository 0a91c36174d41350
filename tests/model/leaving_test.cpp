// Cores of a GPU that leave while the host brings a command: somebody does it.
#include <gtest/gtest.h>

#include <pto/target/cuda/leaving.hpp>

#include "atomics.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

constexpr auto seq_cst = std::memory_order_seq_cst;
constexpr std::uint32_t kLaunch = 1;

/// Words of the host and of the GPU, and a command in a ring. `Orders`: what they are taken for.
template <class Orders>
struct World {
  ModelAtomic<std::uint64_t, Orders> bell{0};
  ModelAtomic<std::uint32_t, Orders> left{0};
  ModelVar<int> command{0};
  ModelVar<int> starts{0};
  ModelVar<int> done{0};

  explicit World(Scenario& scenario) {
    scenario.name("bell", bell);
    scenario.name("left", left);
    scenario.name("command", command);
  }
};

template <class Orders>
struct Keeper {
  World<Orders>& world;
  void tell_left() const { world.left.store(kLaunch, seq_cst); }
  [[nodiscard]] std::uint64_t bell() const { return world.bell.load(seq_cst); }
};
template <class Orders>
struct Host {
  World<Orders>& world;
  void ring(std::uint64_t commands) const { world.bell.store(commands, seq_cst); }
  [[nodiscard]] bool have_left() const { return world.left.load(seq_cst) == kLaunch; }
};

template <class Orders>
Report leave_and_ring(const char* name) {
  return explore(name, [](Scenario& scenario) {
    auto& world = scenario.make<World<Orders>>(scenario);
    scenario.thread("host", [&] {
      world.command.write(7);
      if (cuda::ring(Host<Orders>{world}, 1)) world.starts.write(1);
    });
    scenario.thread("keeper", [&] {
      if (cuda::announce_leaving(Keeper<Orders>{world}, 0)) return;
      // They stay, and find it.
      require(world.command.read() == 7, "who hears the bell sees the command");
      world.done.write(1);
    });
    scenario.at_end([&] { require(world.starts.read() + world.done.read() > 0, "the command is done"); });
  });
}

TEST(Leaving, NoCommandIsLeftLying) { expect_holds(leave_and_ring<AsWritten>("cores leave while the host rings")); }

TEST(BrokenLeaving, WithoutOneOrder) {
  expect_violation(leave_and_ring<WithoutSeqCst>("leave and ring, acquire and release only"), Violation::requirement);
}

/// Who looks before it tells.
template <class Orders>
struct HastyHost : Host<Orders> {
  mutable bool seen = false;
  void ring(std::uint64_t commands) const {
    seen = Host<Orders>::have_left();
    Host<Orders>::ring(commands);
  }
  [[nodiscard]] bool have_left() const { return seen; }
};

TEST(BrokenLeaving, TheHostLooksBeforeItRings) {
  const Report report = explore("the host looks before it rings", [](Scenario& scenario) {
    auto& world = scenario.make<World<AsWritten>>(scenario);
    scenario.thread("host", [&] {
      const HastyHost<AsWritten> host{{world}};
      if (cuda::ring(host, 1)) world.starts.write(1);
    });
    scenario.thread("keeper", [&] {
      if (!cuda::announce_leaving(Keeper<AsWritten>{world}, 0)) world.done.write(1);
    });
    scenario.at_end([&] { require(world.starts.read() + world.done.read() > 0, "the command is done"); });
  });
  expect_violation(report, Violation::requirement);
}

}  // namespace
}  // namespace baton::model
