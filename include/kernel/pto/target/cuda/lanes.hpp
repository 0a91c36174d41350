// on_lanes() of a GPU: the director leaves the work in shared memory, the lanes take it.
#pragma once

#include <string.h>
#include <pto/target/cuda/control.hpp>
#include <type_traits>

namespace baton::cuda {

template <typename Body>
__device__ void work_on_lane(const void* closure, kernel::Lanes lanes) {
  (*static_cast<const Body*>(closure))(lanes);
}

}  // namespace baton::cuda

namespace baton::kernel {

template <typename Body>
__device__ void on_lanes(Body body) {
  static_assert(sizeof(Body) <= kClosureBytes && std::is_trivially_copyable_v<Body>,
                "what lanes need is copied to them");
  cuda::Control& control = cuda::control();
  memcpy(static_cast<void*>(control.closure), static_cast<const void*>(&body), sizeof body);
  control.work = &cuda::work_on_lane<Body>;
  const uint32_t phase = control.phase;
  control.phase = phase ^ 1;
  // Releases the work to the lanes, which acquire it in lane_life().
  cuda::barrier_arrive(&control.begin);
  // Acquires what the lanes wrote.
  cuda::barrier_wait(&control.end, phase);
}

}  // namespace baton::kernel
