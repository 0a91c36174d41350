// Asynchronous copies of a core of a GPU: the lanes carry them out while the director waits, so they are complete when
// they are submitted.
#pragma once

#include <pto/target/cuda/core.hpp>
#include <pto/target/lanes.hpp>

namespace baton::cuda {

/// Stands for the DMA engine and for a session of it: there is nothing to tell them apart by.
inline constexpr uint64_t kOneSession = 1;

__device__ inline void copy_on_lanes(unsigned char* to, const unsigned char* from, uint64_t bytes) {
  kernel::on_lanes<kernel::LanesWrite::memory>([=](kernel::Lanes lanes) {
    const bool wide = (reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) | bytes) % sizeof(int4) == 0;
    if (wide) {
      for (uint64_t i = lanes.lane; i < bytes / sizeof(int4); i += lanes.count) {
        reinterpret_cast<int4*>(to)[i] = reinterpret_cast<const int4*>(from)[i];
      }
    } else {
      for (uint64_t i = lanes.lane; i < bytes; i += lanes.count) to[i] = from[i];
    }
  });
}

}  // namespace baton::cuda

__device__ inline uint64_t BatonCoreTable::session_open(BatonCore*, const BatonSession*, const BatonPlace*) {
  return baton::cuda::kOneSession;
}
__device__ inline uint64_t BatonCoreTable::copy_submit(BatonCore* core, const BatonCopy* copy,
                                                       const BatonPlace* place) {
  baton::kernel::finish_copies();
  if (copy->bytes != 0) {
    baton::cuda::copy_on_lanes(static_cast<unsigned char*>(copy->destination),
                               static_cast<const unsigned char*>(copy->source), copy->bytes);
  }
  if (copy->signal != nullptr) notify(core, copy->signal, copy->signal_value, copy->signal_op, place);
  return reinterpret_cast<uint64_t>(&baton::cuda::control().copied);
}
__device__ inline int32_t BatonCoreTable::copy_test(BatonCore*, uint64_t, uint64_t, const BatonPlace*) { return 1; }
__device__ inline void BatonCoreTable::copy_wait(BatonCore*, uint64_t, uint64_t, const BatonPlace*) {}
__device__ inline void BatonCoreTable::copy_defer(BatonCore*, uint64_t) {}
