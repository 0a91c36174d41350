// When tasks run, for profiles. Without a profile it costs nothing: all of it is off the path of a task.
#pragma once

#include <pto/target/cuda/control.hpp>

namespace baton::cuda {

__device__ inline uint64_t now_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// The task may begin. `runs`: its kernel is called.
__device__ inline void begin_times(Control& mine, UnitTimes* at, bool runs) {
  mine.times_at = at;
  mine.left.timed = 1;
  mine.times = UnitTimes{runs ? now_ns() : 0, 0, 0};
}

/// After the kernel, and its conditions if it has left some. Others were told already, who would wait for this.
__device__ inline void write_times(Control& mine) {
  mine.left.timed = 0;
  mine.times_at->began = mine.times.began;
  mine.times_at->returned = mine.times.returned;
  mine.times_at->complete = mine.times.complete;
}

}  // namespace baton::cuda
