// on_lanes() of a GPU: the director leaves the work in shared memory, the lanes take it.
#pragma once

#include <string.h>
#include <pto/target/cuda/matrix_commands.hpp>
#include <type_traits>

namespace baton::cuda {

/// After a session of products, if there is one.
template <typename Closure>
PTO_INLINE __device__ void post_work(LaneWork work, const Closure& closure) {
  if (control().matrix.sums.session != Sums::none) end_session(Registers::to_memory);
  post(work, closure);
}

template <kernel::LanesWrite kWrites, typename Body>
__device__ void work_on_lane(uint32_t /*closure*/, kernel::Lanes lanes) {
  const Body body = *reinterpret_cast<const Body*>(control().closure);
  body(lanes);
  // A bulk copy may read what it wrote to tiles. Before one that touches memory, the director has a fence for all
  // lanes.
  if constexpr (kWrites == kernel::LanesWrite::tiles) fence_shared_copies();
}

}  // namespace baton::cuda

namespace baton::kernel {

__device__ inline void settle_lanes() {
  if (cuda::read_at_once(cuda::control().lanes.counts).is_unsettled()) cuda::settle_all_work();
}

template <LanesWrite kWrites = LanesWrite::tiles, typename Body>
__device__ void on_lanes(Body body) {
  static_assert(sizeof(Body) <= kClosureBytes && std::is_trivially_copyable_v<Body>,
                "what lanes need is copied to them");
  cuda::Control& control = cuda::control();
  memcpy(static_cast<void*>(control.closure), static_cast<const void*>(&body), sizeof body);
  if (control.matrix.sums.session != cuda::Sums::none) cuda::end_session(cuda::Registers::to_memory);
  cuda::do_work(&cuda::work_on_lane<kWrites, Body>);
  if constexpr (kWrites == LanesWrite::memory) control.copies.memory_changed = control.copies.lanes_wrote = 1;
}

/// The same for what writes to tiles, without waiting for it: what reads them next is posted, too, or settles.
template <typename Body>
PTO_INLINE __device__ void post_to_lanes(const Body& body) {
  // Where there are tiles of Vec, there is no session of products.
  cuda::post(&cuda::posted_on_lane<Body>, body);
}

}  // namespace baton::kernel
