// The completion queue of older kernels: the queue's address is the kernel's last scalar.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_CQ_TYPES_H
#define PTO_CQ_TYPES_H

#include <completion/async_ctx.hpp>

#define PTO2_CQ_MAX_ENTRIES 64
#define PTO2_ENGINE_SDMA 0
#define PTO2_ENGINE_ROCE 1
#define PTO2_ENGINE_URMA 2
#define PTO2_ENGINE_CCU 3
#define PTO2_SQ_ID_AUTO UINT32_MAX

struct PTO2CQEntry {
  uint32_t engine;
  int32_t completion_type;
  uint64_t addr;
  uint32_t expected_value;
  uint32_t pad;
};

/// The runtime reads `entries` after an acquire load of `count`.
struct PTO2CompletionQueue {
  volatile int32_t count;
  int32_t pad;
  PTO2CQEntry entries[PTO2_CQ_MAX_ENTRIES];
};

static_assert(sizeof(PTO2CQEntry) == 24 && offsetof(PTO2CQEntry, completion_type) == 4 &&
              offsetof(PTO2CQEntry, addr) == 8);
static_assert(offsetof(PTO2CQEntry, expected_value) == 16);
static_assert(sizeof(PTO2CompletionQueue) == 1544 && offsetof(PTO2CompletionQueue, entries) == 8);

#endif
