// Barriers in shared memory: between the director of a core, its lanes and the copies that it starts.
#pragma once

#include <stdint.h>
#include <pto/target/cuda/run.hpp>

namespace baton::cuda {

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void barrier_init(uint64_t* barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

/// Arrives, and `bytes` that copies bring are waited for, too. A release: pairs with barrier_wait().
__device__ inline void barrier_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/// A release: pairs with barrier_wait().
__device__ inline void barrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Waits for the end of the phase with this parity. An acquire: pairs with the arrivals of that phase.
__device__ inline void barrier_wait_at(uint32_t address, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
      "@done bra finished;\n"
      "bra again;\n"
      "finished:\n"
      "}\n" ::"r"(address),
      "r"(parity)
      : "memory");
}
__device__ inline void barrier_wait(uint64_t* barrier, uint32_t parity) {
  barrier_wait_at(shared_address(barrier), parity);
}

/// Whether that phase has ended.
__device__ inline bool barrier_has_ended_at(uint32_t address, uint32_t parity) {
  uint32_t ended = 0;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n"
      "}\n"
      : "=r"(ended)
      : "r"(address), "r"(parity)
      : "memory");
  return ended != 0;
}
__device__ inline bool barrier_has_ended(uint64_t* barrier, uint32_t parity) {
  return barrier_has_ended_at(shared_address(barrier), parity);
}

/// The same without sleep, from which a thread wakes late.
__device__ inline void barrier_spin(uint64_t* barrier, uint32_t parity) {
  while (!barrier_has_ended(barrier, parity)) {
  }
}

/// Of a core: its lanes and its director, who is in the last warp of them. The loader comes behind.
__device__ inline uint32_t core_threads() { return blockDim.x < kMostThreads ? blockDim.x : kMostThreads; }

/// Between accesses of threads to shared memory and those of bulk copies, either way.
__device__ inline void fence_shared_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// The same for all memory. It waits for the whole GPU: half a microsecond.
__device__ inline void fence_copies() { asm volatile("fence.proxy.async;" ::: "memory"); }

/// Starts a copy from global to shared memory. Addresses and size are multiples of 16.
__device__ inline void copy_to_shared(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/// Starts a copy from shared to global memory, of the group that is committed next.
__device__ inline void copy_from_shared(void* to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}

}  // namespace baton::cuda
