// Products on a GPU: a director that orders loads and posts commands, loaders that start loads when what they replace
// has been read, and warps that read what was loaded. Nobody reads half of a tile that another load brings.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include <pto/target/cuda/loading.hpp>

#include "atomics.hpp"
#include "explore.hpp"

namespace baton::model {
namespace {

constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

constexpr std::uint32_t kTiles = 1;
constexpr std::uint32_t kWarps = 1;
constexpr std::uint32_t kPortions = cuda::kPortions;

/// A barrier in shared memory: its phase ends when `count` have arrived; who waits knows the parity of a phase.
struct Barrier {
  ModelAtomic<std::uint32_t> arrived{0};
  std::uint32_t count = 1;

  void arrive() { arrived.fetch_add(1, std::memory_order_acq_rel); }
  [[nodiscard]] bool has_ended(std::uint32_t parity) const { return arrived.load(acquire) / count % 2 != parity; }
  void wait(std::uint32_t parity) const {
    while (!has_ended(parity)) pause();
  }
};

/// What may be wrong.
enum class Fault : std::uint8_t { none, loads_at_once, tells_early, overtakes_orders, overtakes_commands };

/// Load number n comes to tile n % kTiles, and product number n reads it.
template <std::uint32_t kOrders, std::uint32_t kCommands, std::uint32_t kLoaders>
struct World {
  using OrderRing = cuda::BarrierRing<kOrders>;
  using CommandRing = cuda::BarrierRing<kCommands>;

  Fault fault;
  std::uint32_t loads;
  std::array<Barrier, kOrders> ordered_at;
  std::array<Barrier, kOrders> issued;
  std::array<Barrier, kCommands> ready;
  std::array<Barrier, kCommands> done;
  std::array<std::array<Barrier, kPortions>, kTiles> loaded;
  std::array<std::array<ModelAtomic<std::uint32_t>, kWarps>, kPortions> read;
  std::array<ModelVar<std::uint32_t>, kOrders> orders;
  std::array<ModelVar<std::uint32_t>, kCommands> commands;
  std::array<std::array<ModelVar<std::uint32_t>, kPortions>, kTiles> tiles;

  World(Fault fault_of_one, std::uint32_t load_count) : fault(fault_of_one), loads(load_count) {
    for (Barrier& barrier : done) barrier.count = kWarps;
  }

  void order(std::uint32_t number) {
    const std::uint32_t place = OrderRing::place(number);
    if (fault != Fault::overtakes_orders) issued[place].wait(OrderRing::parity_before(number));
    orders[place].write(number);
    ordered_at[place].arrive();
  }
  void post(std::uint32_t number) {
    const std::uint32_t place = CommandRing::place(number);
    if (fault != Fault::overtakes_commands) done[place].wait(CommandRing::parity_before(number));
    commands[place].write(number);
    ready[place].arrive();
  }

  void direct() {
    order(0);
    for (std::uint32_t number = 0; number < loads; ++number) {
      post(number);
      if (number + 1 < loads) order(number + 1);
    }
    // To leave.
    for (std::uint32_t i = 0; i < kLoaders; ++i) order(loads + i);
  }

  void multiply(std::uint32_t warp) {
    for (std::uint32_t number = 0; number < loads; ++number) {
      const std::uint32_t place = CommandRing::place(number);
      ready[place].wait(CommandRing::parity(number));
      require(commands[place].read() == number, "each command is carried out once");
      const std::uint32_t tile = number % kTiles;
      for (std::uint32_t portion = 0; portion < kPortions; ++portion) {
        loaded[tile][portion].wait(number / kTiles % 2);
        if (fault == Fault::tells_early) read[portion][warp].store(number + 1, release);
        require(tiles[tile][portion].read() == number, "a product reads what was loaded for it");
        read[portion][warp].store(number + 1, release);
      }
      done[place].arrive();
    }
  }
};

/// As loading.hpp wants it.
template <class World>
struct LoaderWords {
  using OrderRing = typename World::OrderRing;
  World& world;
  std::uint32_t number = 0;

  [[nodiscard]] bool await_order(std::uint32_t awaited) {
    const std::uint32_t place = OrderRing::place(awaited);
    world.ordered_at[place].wait(OrderRing::parity(awaited));
    number = world.orders[place].read();
    require(number == awaited, "each order is carried out once");
    return number < world.loads;
  }
  void await_read(std::uint32_t portion) const {
    if (number < kTiles || world.fault == Fault::loads_at_once) return;
    const std::uint32_t reader = number - kTiles + 1;
    for (const auto& read : world.read[portion]) {
      while (read.load(acquire) < reader) pause();
    }
  }
  void load(std::uint32_t portion) {
    world.tiles[number % kTiles][portion].write(number);
    world.loaded[number % kTiles][portion].arrive();
  }
  void end_order(std::uint32_t ended) { world.issued[OrderRing::place(ended)].arrive(); }
};

template <std::uint32_t kOrders, std::uint32_t kCommands, std::uint32_t kLoaders = 1>
Report load_and_multiply(const char* name, std::uint32_t loads, Fault fault = Fault::none) {
  return explore(name,
                 [loads, fault](Scenario& scenario) {
                   auto& world = scenario.make<World<kOrders, kCommands, kLoaders>>(fault, loads);
                   scenario.thread("director", [&world] { world.direct(); });
                   for (std::uint32_t loader = 0; loader < kLoaders; ++loader) {
                     scenario.thread("loader", [&world, loader] {
                       LoaderWords<World<kOrders, kCommands, kLoaders>> words{world};
                       cuda::load_in_portions<kLoaders>(words, loader);
                     });
                   }
                   for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
                     scenario.thread("warp", [&world, warp] { world.multiply(warp); });
                   }
                 },
                 {.preemptions = 1});
}

TEST(Loading, ProductsReadWhatWasLoadedForThem) {
  expect_holds(load_and_multiply<2, 1>("products and their loads", 2));
}

TEST(BrokenLoading, LoadsWhatIsStillRead) {
  expect_violation(load_and_multiply<2, 1>("loads at once", 2, Fault::loads_at_once), Violation::race);
}
TEST(BrokenLoading, WarpsTellBeforeTheyHaveRead) {
  expect_violation(load_and_multiply<2, 1>("tells early", 2, Fault::tells_early), Violation::race);
}
TEST(BrokenLoading, TheDirectorOvertakesItsOrders) {
  expect_violation(load_and_multiply<1, 2>("overtakes orders", 2, Fault::overtakes_orders), Violation::requirement);
}
TEST(BrokenLoading, TheDirectorOvertakesItsCommands) {
  expect_violation(load_and_multiply<2, 1>("overtakes commands", 2, Fault::overtakes_commands), Violation::race);
}

}  // namespace
}  // namespace baton::model
