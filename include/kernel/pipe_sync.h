// pipe_sync: the scalar pipe goes on when all that the kernel stored is in global memory.
#include <pto/target/qualifiers.hpp>
#ifndef PIPE_SYNC_H
#define PIPE_SYNC_H

#include <pto/common/order.hpp>

// Internal linkage: vector and cube kernels of one program have each their own.
static AICORE inline void pipe_sync(baton::kernel::Where where = baton::kernel::Where::current()) {
#if defined(__DAV_CUBE__)
  constexpr pipe_t kStores = PIPE_FIX;
#else
  constexpr pipe_t kStores = PIPE_MTE3;
#endif
  set_flag(kStores, PIPE_S, EVENT_ID7, where);
  wait_flag(kStores, PIPE_S, EVENT_ID7, where);
}

#endif
