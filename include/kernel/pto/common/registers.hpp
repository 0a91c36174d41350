// Registers of a vector core that kernels set and read: the mask, which is always whole here, and the clock.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <common/platform_config.h>
#include <pto/target/fail.hpp>
#if !defined(__CUDACC__)
#include <time.h>
#endif

/// All lanes take part: what holds anyway.
AICORE inline void set_mask_norm() {}

/// Tile instructions act on valid regions, so no lane is ever masked out; another mask is an error.
AICORE inline void set_vector_mask(uint64_t high, uint64_t low,
                                   baton::kernel::Where where = baton::kernel::Where::current()) {
  if (high == UINT64_MAX && low == UINT64_MAX) return;
  baton::kernel::fail(baton::kernel::place_of("set_vector_mask", where), BATON_KERNEL_UNSUPPORTED,
                      "only the whole mask (-1, -1) is supported");
}

/// Ticks of a clock that never goes back, PLATFORM_PROF_SYS_CNT_FREQ to the second.
AICORE inline int64_t get_sys_cnt() {
  PTO_INSTRUCTION_BOUNDARY();
#if defined(__CUDACC__)
  uint64_t nanoseconds = 0;
  __asm__ __volatile__("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t nanoseconds = static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
#endif
  return static_cast<int64_t>(nanoseconds / (1000000000 / PLATFORM_PROF_SYS_CNT_FREQ));
}
