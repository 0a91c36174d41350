// Order between the pipes of a core: flags, barriers, caches.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/fail.hpp>

enum pipe_t { PIPE_S, PIPE_V, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_M, PIPE_ALL, PIPE_FIX };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

// Kernels use these words with and without a qualifier, and some open `namespace cache_line_t` to define their own:
// what they find there themselves goes before what a using-directive brings.
namespace baton::kernel::cache_words {
enum : int { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum : int { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
}  // namespace baton::kernel::cache_words
using namespace baton::kernel::cache_words;
namespace cache_line_t {
using namespace baton::kernel::cache_words;
}
namespace dcci_dst_t {
using namespace baton::kernel::cache_words;
}
typedef int mem_dsb_t;
enum { DSB_ALL, DSB_DDR, DSB_UB };

namespace baton::kernel {

PTO_ONCE [[noreturn]] PTO_COLD AICORE void refuse_flag(BatonPlace place, pipe_t producer, pipe_t consumer, int id) {
  if (id < 0 || id > 7) fail(place, BATON_KERNEL_INVALID_ARGUMENT, "event ids are 0 to 7, got ", id);
  fail(place, BATON_KERNEL_INVALID_ARGUMENT, "a flag goes from one pipe to another, got ", int{producer}, " to ",
       int{consumer});
}
PTO_INLINE AICORE void check_flag(const BatonPlace& place, pipe_t producer, pipe_t consumer, int id) {
  if (kChecks &&
      (static_cast<unsigned>(id) > 7 || producer == PIPE_ALL || consumer == PIPE_ALL || producer == consumer)) {
    refuse_flag(place, producer, consumer, id);
  }
}

}  // namespace baton::kernel

/// Fires after the earlier work of `producer`.
AICORE inline void set_flag(pipe_t producer, pipe_t consumer, int id,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("set_flag", where);
  baton::kernel::check_flag(place, producer, consumer, id);
  BatonCore& core = baton::kernel::current_core();
  core.table->set_flag(&core, producer, consumer, id, &place);
}

/// Holds back the later work of `consumer` until the flag fires, and takes it down.
AICORE inline void wait_flag(pipe_t producer, pipe_t consumer, int id,
                             baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("wait_flag", where);
  baton::kernel::check_flag(place, producer, consumer, id);
  BatonCore& core = baton::kernel::current_core();
  core.table->wait_flag(&core, producer, consumer, id, &place);
}

/// Separates earlier from later work of `pipe`; PIPE_ALL of all pipes.
AICORE inline void pipe_barrier(pipe_t pipe, baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("pipe_barrier", where);
  BatonCore& core = baton::kernel::current_core();
  core.table->pipe_barrier(&core, pipe, &place);
}

/// Writes back or drops the 64-byte line of scalar data at `address`, or all of them.
AICORE inline void dcci(const volatile void* address, int line, int destination = CACHELINE_ALL) {
  BatonCore& core = baton::kernel::current_core();
  core.table->cache_line(&core, address, line, destination);
}

/// Orders scalar accesses and cache operations before it with those after it. A template, so that a kernel may define a
/// `dsb(mem_dsb_t)` of its own.
template <typename Kind>
AICORE inline void dsb(Kind kind) {
  BatonCore& core = baton::kernel::current_core();
  core.table->memory_barrier(&core, static_cast<int32_t>(kind));
}
