// The director's side of loads into kept tiles: it orders them, and the loader, a thread of its own, waits until what
// was there has been read and starts them (pto/target/cuda/loader.hpp). Products wait for what they read; others who
// must know that loads have ended drain them.
#pragma once

#include <pto/target/cuda/matrix_commands.hpp>

namespace baton::cuda {

/// Releases it to the loader, which acquires it in loader_life(). `number`: how many came before it.
PTO_INLINE __device__ void post_order(const LoadOrder& order, uint32_t number) {
  MatrixUnit& unit = control().matrix;
  const uint32_t place = OrderRing::place(number);
  // For the one whose place it takes.
  barrier_wait(&unit.issued[place], OrderRing::parity_before(number));
  unit.orders[place] = order;
  unit.ordered = number + 1;
  barrier_arrive(&unit.ordered_at[place]);
}

PTO_INLINE __device__ LoadPhase phase_of_load(uint32_t tile, uint32_t loads) {
  return shared_address(&control().matrix.loaded[tile]) | (loads - 1) % 2;
}

/// Waits until both portions of a tile are there. The load before the one that is waited for has ended.
__device__ inline void wait_load(LoadPhase phase) {
  for (uint32_t portion = 0; portion < kPortions; ++portion) {
    barrier_wait_at((phase & ~1u) + portion * uint32_t{sizeof(uint64_t)}, phase & 1);
  }
}

/// Waits until loaders have started all loads, and know no order any more.
__device__ inline void wait_orders() {
  MatrixUnit& unit = control().matrix;
  for (uint32_t i = 0; i < kLoaders && i < unit.ordered; ++i) {
    const uint32_t last = unit.ordered - 1 - i;
    barrier_wait(&unit.issued[OrderRing::place(last)], OrderRing::parity(last));
  }
}

/// Waits until all loads into kept tiles have ended.
PTO_OUTLINED __device__ inline void wait_kept_loads() {
  MatrixUnit& unit = control().matrix;
  wait_orders();
  for (uint32_t tile = 0; tile < kKeptTiles; ++tile) {
    const uint32_t loads = unit.tiles[tile].state.loads;
    if (loads != 0) wait_load(phase_of_load(tile, loads));
  }
  unit.drained = unit.ordered;
}
__device__ inline void drain_kept_loads() {
  const MatrixUnit& unit = control().matrix;
  if (unit.drained != unit.ordered) wait_kept_loads();
}

/// The core is done: so are its loaders.
__device__ inline void send_loaders_away() {
  const LoadOrder order{.element = 0, .reader = 0, .tile = 0, .flags = kLoaderLeaves};
  for (uint32_t i = 0; i < kLoaders; ++i) post_order(order, control().matrix.ordered);
}

}  // namespace baton::cuda
