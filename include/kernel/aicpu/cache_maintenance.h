// Caches between the orchestration and the cores: a simulated chip has none.
#ifndef AICPU_CACHE_MAINTENANCE_H
#define AICPU_CACHE_MAINTENANCE_H

#include <stddef.h>
#include <atomic>

/// What cores wrote to these bytes is seen by the reads that follow.
inline void cache_invalidate_range(void* /*address*/, size_t /*bytes*/) {
  // Pairs with the release by the writer of what the caller has just seen.
  std::atomic_thread_fence(std::memory_order_acquire);
}

/// For loops that poll.
#if defined(__aarch64__)
#define SPIN_WAIT_HINT() __asm__ volatile("yield" ::: "memory")
#elif defined(__x86_64__)
#define SPIN_WAIT_HINT() __builtin_ia32_pause()
#else
#define SPIN_WAIT_HINT() __asm__ volatile("" ::: "memory")
#endif

#endif
