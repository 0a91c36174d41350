// What lanes do next: the director posts work and reads on, lanes take one after the other. State of a core, and what
// both sides do at a meeting; the rest is in posting.hpp and run_graph.hpp.
//
// Each work has a barrier of the hardware, at which all lanes wait for it, and which the director passes without
// waiting: so lanes have also met after the work before. Every few works the director waits there, too; then it knows
// that they are done, and their places are free.
//
// What needs the work of lanes waits for it: instructions that the director carries out by itself, flags of PIPE_V
// for other pipes than that of stores, the end of a task (settle_lanes()). Stores, and loads that come after lanes or
// stores, are posted, too, so that they keep their order without anybody waiting.
#pragma once

#include <stdint.h>
#include <pto/target/compiler.hpp>
#include <pto/target/cuda/barrier.hpp>
#include <pto/target/cuda/run.hpp>
#include <pto/target/lane.hpp>

namespace baton::cuda {

/// An instruction, or part of one, for a lane. `closure`: its address in shared memory.
using LaneWork = void (*)(uint32_t closure, kernel::Lanes lanes);

inline constexpr uint32_t kWorks = 8;
inline constexpr uint32_t kPostedBytes = 32;
/// Works that may be posted and not known to be done. Lanes may still be at the places of two others: the last one that
/// is known to be done, and the one behind which the director waited for them.
inline constexpr uint32_t kAhead = kWorks - 2;

struct alignas(16) PostedWork {
  LaneWork work;        // null: lanes begin a session of products; kNoWork: others wait for what came before
  uint32_t first_load;  // that are waited for
  uint32_t load_count;
  unsigned char closure[kPostedBytes];
};
static_assert(sizeof(PostedWork) == 48);

inline constexpr uint64_t kNoWork = 1;

/// Read at once for each work.
struct alignas(16) WorkCounts {
  uint32_t posted;
  uint32_t settled;       // works that the director knows to be done
  uint32_t loads_given;   // works that were posted wait for the loads before this one
  uint32_t loads_wanted;  // the next work waits for those before this one

  /// Whether the director has something to wait for: works, or loads.
  __device__ __forceinline__ bool is_unsettled() const {
    return ((posted ^ settled) | (loads_given ^ loads_wanted)) != 0;
  }
};

struct LaneQueue {
  PostedWork works[kWorks];  // number i has place i % kWorks
  WorkCounts counts;
};

__device__ inline void prepare_lanes(LaneQueue& queue) { queue.counts = {}; }
__device__ __forceinline__ uint32_t place_of_work(uint32_t number) { return number % kWorks; }

// Barriers of the hardware: 0 is that of __syncthreads().
inline constexpr uint32_t kBarrierOfLanes = 1;
inline constexpr uint32_t kFirstBarrierOfWorks = 2;

/// All lanes meet. Each releases what it wrote and acquires what the others did. Here and in await_work() whole warps
/// arrive, as `aligned` says; the director does so alone.
__device__ __forceinline__ void meet_lanes(kernel::Lanes lanes) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"n"(kBarrierOfLanes), "r"(lanes.count) : "memory");
}

/// Lanes, and the director with them, wait for each other before a work. Each releases what it wrote and acquires what
/// the others did; the director also what it released in announce_work(), if it does not wait. This is the lanes' part.
__device__ __forceinline__ void await_work(uint32_t place, uint32_t threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(kFirstBarrierOfWorks + place), "r"(threads) : "memory");
}
/// The director's, who is alone in its warp.
__device__ inline void meet_at_work(uint32_t place) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(kFirstBarrierOfWorks + place), "r"(core_threads()) : "memory");
}
/// The director's without waiting. Releases the work; pairs with await_work().
__device__ inline void announce_work(uint32_t place) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(kFirstBarrierOfWorks + place), "r"(core_threads()) : "memory");
}

}  // namespace baton::cuda
