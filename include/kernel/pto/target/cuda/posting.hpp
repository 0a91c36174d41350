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

/// Waits until lanes have done all that was posted. Acquires what they wrote.
PTO_OUTLINED __device__ inline void await_lanes() {
  LaneQueue& queue = control().lanes;
  const uint32_t place = queue.place;
  *reinterpret_cast<uint4*>(&queue.works[place]) = uint4{static_cast<uint32_t>(kNoWork), 0, 0, 0};
  queue.place = place_after(place);
  meet_at_work(place);
  queue.settled = ++queue.posted;
}

PTO_OUTLINED __device__ inline void settle_all_work() {
  LaneQueue& queue = control().lanes;
  queue.unsettled = 0;
  if (queue.posted != queue.settled) await_lanes();
  wait_loads(queue.loads_wanted);
}

/// Lanes wait before that work for the loads from `given` to before `wanted`, but for those that have ended, whose
/// barriers may be used again. Returns the first of them.
__device__ __forceinline__ uint32_t give_loads(uint32_t given, uint32_t wanted, uint32_t number) {
  Control& mine = control();
  const uint32_t ended = mine.copies.loads_ended;
  uint32_t first = static_cast<int32_t>(ended - given) > 0 ? ended : given;
  if (static_cast<int32_t>(first - wanted) > 0) first = wanted;
#pragma unroll 1
  for (uint32_t load = first; load != wanted; ++load) mine.copies.targets[load % kLoads].work = number + 1;
  mine.lanes.loads_given = wanted;
  return first;
}

/// Lanes do it now, and the director waits. For what nobody would post: the shortest way there and back.
PTO_INLINE __device__ void do_work(LaneWork work) {
  LaneQueue& queue = control().lanes;
  if (queue.unsettled != 0) settle_all_work();
  const uint32_t place = queue.place;
  const uint32_t after = place_after(place);
  *reinterpret_cast<uint4*>(&queue.works[after]) = uint4{static_cast<uint32_t>(kNoWork), 0, 0, 0};
  *reinterpret_cast<uint4*>(&queue.works[place]) =
      uint4{static_cast<uint32_t>(reinterpret_cast<uint64_t>(work)),
            static_cast<uint32_t>(reinterpret_cast<uint64_t>(work) >> 32), 0, 0};
  meet_at_work(place);
  queue.place = place_after(after);
  queue.settled = queue.posted += 2;
  queue.loads_given = queue.loads_wanted;
  meet_at_work(after);
}

struct NoClosure {};

/// `closure`: what `work` is called with, a copy of it.
template <typename Closure>
PTO_INLINE __device__ void post(LaneWork work, const Closure& closure) {
  static_assert(sizeof(Closure) <= kPostedBytes && std::is_trivially_copyable_v<Closure>);
  Control& mine = control();
  LaneQueue& queue = mine.lanes;
  const uint32_t number = queue.posted;
  const uint32_t place = queue.place;
  PostedWork& next = queue.works[place];
  memcpy(static_cast<void*>(next.closure), static_cast<const void*>(&closure), sizeof closure);
  uint32_t given = queue.loads_given;
  const uint32_t wanted = queue.loads_wanted;
  if (given != wanted) given = give_loads(given, wanted, number);
  *reinterpret_cast<uint4*>(&next) =
      uint4{static_cast<uint32_t>(reinterpret_cast<uint64_t>(work)),
            static_cast<uint32_t>(reinterpret_cast<uint64_t>(work) >> 32), given, wanted - given};
  queue.posted = number + 1;
  queue.place = place_after(place);
  queue.unsettled = 1;
  // Neither place nor barrier is one that lanes may still be at: as many are free as they have done works.
  if (number - queue.settled >= kAhead) {
    meet_at_work(place);
    queue.settled = number;
  } else {
    announce_work(place);
  }
}

}  // namespace baton::cuda
