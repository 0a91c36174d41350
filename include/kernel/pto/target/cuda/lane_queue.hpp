// What lanes do next: the director posts work and reads on, lanes take one after the other. State of a core, and what
// both sides do at a meeting; the rest is in posting.hpp and run_graph.hpp.
//
// Each work has a barrier of the hardware, at which all lanes wait for it, and which the director passes without
// waiting: so lanes have also met after the work before. Every few works the director waits there, too; then it knows
// that they are done, and their places are free.
//
// Who needs what lanes have done waits for it: instructions that the director carries out by itself, flags of PIPE_V
// for other pipes than that of stores, the end of a task (settle_lanes()). Stores, and loads that come after lanes or
// stores, are posted, too, so that they keep their order without anybody waiting.
#pragma once

#include <stdint.h>
#include <pto/target/compiler.hpp>
#include <pto/target/cuda/barrier.hpp>
#include <pto/target/cuda/run.hpp>
#include <pto/target/lane.hpp>

namespace baton::cuda {

/// An instruction, or part of one, for a lane.
using LaneWork = void (*)(const void* closure, kernel::Lanes lanes);

inline constexpr uint32_t kWorks = 6;
inline constexpr uint32_t kPostedBytes = 32;
/// Works that may be posted and not known to be done. Lanes may still be at the places of two others: the last one that
/// is known to be done, and the one behind which the director waited for them.
inline constexpr uint32_t kAhead = kWorks - 2;

struct alignas(16) PostedWork {
  LaneWork work;   // null: lanes begin a session of products, or leave
  uint32_t loads;  // that are waited for first: from this one on
  uint32_t load_count;
  unsigned char closure[kPostedBytes];
};
static_assert(sizeof(PostedWork) == 48);

/// No work: the director waits until lanes have done what came before.
inline constexpr uint64_t kNoWork = 1;

struct LaneQueue {
  PostedWork works[kWorks];  // number i has place i % kWorks
  uint32_t loads_given;      // works that were posted wait for the loads before this one
  uint32_t loads_wanted;     // the next work waits for those before this one
  uint32_t posted;
  uint32_t place;      // of the next work
  uint32_t unsettled;  // not 0: work was posted, or loads are to be waited for, since lanes were settled
  uint32_t settled;    // works that the director knows to be done
};

__device__ inline void prepare_lanes(LaneQueue& queue) {
  queue.posted = queue.place = queue.settled = queue.unsettled = queue.loads_wanted = queue.loads_given = 0;
}
__device__ inline uint32_t place_after(uint32_t place) { return place + 1 == kWorks ? 0 : place + 1; }

// Barriers of the hardware: 0 is that of __syncthreads().
inline constexpr uint32_t kBarrierOfLanes = 1;
inline constexpr uint32_t kFirstBarrierOfWorks = 2;

/// All lanes meet. Each releases what it wrote and acquires what the others did.
__device__ inline void meet_lanes(kernel::Lanes lanes) {
  asm volatile("barrier.cta.sync %0, %1;" ::"n"(kBarrierOfLanes), "r"(lanes.count) : "memory");
}

/// Lanes, and the director with them, wait for each other before a work. Each releases what it wrote and acquires what
/// the others did; the director also what it released in announce_work(), if it does not wait.
__device__ inline void meet_at_work(uint32_t place) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(kFirstBarrierOfWorks + place), "r"(core_threads()) : "memory");
}
/// The director's part of it without waiting. Releases the work; pairs with meet_at_work() of lanes.
__device__ inline void announce_work(uint32_t place) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(kFirstBarrierOfWorks + place), "r"(core_threads()) : "memory");
}

}  // namespace baton::cuda
