// The director's side of lane_queue.hpp: it posts work, and waits for lanes when it must.
#pragma once

#include <string.h>
#include <pto/target/cuda/control.hpp>
#include <type_traits>

namespace baton::cuda {

/// Waits for the loads before number `end`.
__device__ inline void wait_loads(uint32_t end) {
  BulkCopies& mine = control().copies;
  while (static_cast<int32_t>(end - mine.loads_ended) > 0) {
    barrier_wait(&mine.loaded[mine.loads_ended % kLoads], mine.loads_ended / kLoads % 2);
    ++mine.loads_ended;
  }
}

/// For which no load is waited for.
__device__ __forceinline__ void write_work(uint32_t place, uint64_t address) {
  *reinterpret_cast<uint4*>(&control().lanes.works[place]) =
      uint4{static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), 0, 0};
}

/// Waits until lanes have done all that was posted. Acquires what they wrote.
PTO_OUTLINED __device__ inline void await_lanes() {
  LaneQueue& queue = control().lanes;
  const uint32_t number = queue.counts.posted;
  write_work(place_of_work(number), kNoWork);
  meet_at_work(place_of_work(number));
  queue.counts.settled = queue.counts.posted = number + 1;
}

PTO_OUTLINED __device__ inline void settle_all_work() {
  WorkCounts& counts = control().lanes.counts;
  if (counts.posted != counts.settled) await_lanes();
  counts.loads_given = counts.loads_wanted;
  wait_loads(counts.loads_wanted);
}

/// A closure from where the compiler knows that it is shared memory; in registers: what the body writes might change
/// it, for all that the compiler knows.
template <typename Body>
__device__ __forceinline__ Body closure_of(uint32_t closure) {
  asm("" : "+r"(closure));
  return *static_cast<const Body*>(__cvta_shared_to_generic(closure));
}

template <typename Body>
__device__ void posted_on_lane(uint32_t closure, kernel::Lanes lanes) {
  const Body body = closure_of<Body>(closure);
  body(lanes);
}

/// Lanes do it now, and the director waits. For what nobody would post: the shortest way there and back.
PTO_INLINE __device__ void do_work(LaneWork work) {
  WorkCounts& counts = control().lanes.counts;
  if (counts.is_unsettled()) settle_all_work();
  const uint32_t number = counts.posted;
  const uint32_t place = place_of_work(number);
  const uint32_t after = place_of_work(number + 1);
  write_work(after, kNoWork);
  write_work(place, reinterpret_cast<uint64_t>(work));
  meet_at_work(place);
  counts.settled = counts.posted = number + 2;
  meet_at_work(after);
}

struct NoClosure {};

/// The next work waits for the loads that are wanted, but for those that have ended, whose barriers may be used again.
__device__ __forceinline__ void give_loads() {
  Control& mine = control();
  WorkCounts& counts = mine.lanes.counts;
  const uint32_t wanted = counts.loads_wanted;
  const uint32_t ended = mine.copies.loads_ended;
  uint32_t first = counts.loads_given;
  counts.loads_given = wanted;
  if (static_cast<int32_t>(ended - first) > 0) first = ended;
  if (static_cast<int32_t>(wanted - first) <= 0) return;
  PostedWork& next = mine.lanes.works[place_of_work(counts.posted)];
  next.first_load = first;
  next.load_count = wanted - first;
  for (uint32_t load = first; load != wanted; ++load) mine.copies.targets[load % kLoads].work = counts.posted + 1;
}

/// `closure`: what `work` is called with, a copy of it.
template <typename Closure>
PTO_INLINE __device__ void post(LaneWork work, const Closure& closure) {
  static_assert(sizeof(Closure) <= kPostedBytes && std::is_trivially_copyable_v<Closure>);
  LaneQueue& queue = control().lanes;
  const WorkCounts counts = read_at_once(queue.counts);
  const uint32_t number = counts.posted;
  const uint32_t place = place_of_work(number);
  PostedWork& next = queue.works[place];
  memcpy(static_cast<void*>(next.closure), static_cast<const void*>(&closure), sizeof closure);
  write_work(place, reinterpret_cast<uint64_t>(work));
  if (counts.loads_given != counts.loads_wanted) give_loads();
  queue.counts.posted = number + 1;
  // Neither place nor barrier is one that lanes may still be at: as many are free as they have done works.
  if (number - counts.settled >= kAhead) {
    meet_at_work(place);
    queue.counts.settled = number;
  } else {
    announce_work(place);
  }
}

}  // namespace baton::cuda
