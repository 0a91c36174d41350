// on_lanes() of a GPU: the director leaves the work in shared memory, the lanes take it.
#pragma once

#include <string.h>
#include <pto/target/cuda/matrix_commands.hpp>
#include <type_traits>

namespace baton::cuda {

template <kernel::LanesWrite kWrites, typename Body>
__device__ void work_on_lane(const void* /*closure*/, kernel::Lanes lanes) {
  // In registers: what the body writes might change the closure, for all that the compiler knows. From where the
  // compiler knows that it is shared memory.
  const Body body = *reinterpret_cast<const Body*>(control().closure);
  body(lanes);
  // A bulk copy may read what it wrote to tiles. Before one that touches memory, the director has a fence for all
  // lanes.
  if constexpr (kWrites == kernel::LanesWrite::tiles) fence_shared_copies();
}

}  // namespace baton::cuda

namespace baton::kernel {

template <LanesWrite kWrites = LanesWrite::tiles, typename Body>
__device__ void on_lanes(Body body) {
  static_assert(sizeof(Body) <= kClosureBytes && std::is_trivially_copyable_v<Body>,
                "what lanes need is copied to them");
  cuda::Control& control = cuda::control();
  if (control.matrix.sums.session != cuda::Sums::none) cuda::end_session(cuda::Registers::to_memory);
  memcpy(static_cast<void*>(control.closure), static_cast<const void*>(&body), sizeof body);
  control.work = &cuda::work_on_lane<kWrites, Body>;
  // Releases the work to the lanes, which acquire it in lane_life().
  cuda::meet_warps();
  // Acquires what the lanes wrote.
  cuda::meet_warps();
  if constexpr (kWrites == LanesWrite::memory) control.copies.memory_changed = control.copies.lanes_wrote = 1;
}

}  // namespace baton::kernel
