// Conditions in their older form: entries of a completion queue.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_CQ_KERNEL_API_H
#define PTO_CQ_KERNEL_API_H

#include <pto_cq_types.h>
#include <completion/conditions.hpp>
#include <pto/comm/async_common/async_types.hpp>
#include <pto/common/order.hpp>

AICORE inline volatile PTO2CompletionQueue* pto2_cq_get(uint64_t address) {
  return reinterpret_cast<volatile PTO2CompletionQueue*>(address);
}

AICORE inline void pto2_cq_reset(volatile PTO2CompletionQueue* queue) {
  baton::kernel::store_relaxed(&queue->count, int32_t{0});
}

/// Publishes what was written to the queue.
AICORE inline void pto2_cq_flush(volatile PTO2CompletionQueue* queue) {
  dcci(queue, ENTIRE_DATA_CACHE, CACHELINE_OUT);
  dsb(DSB_DDR);
}
AICORE inline void pto2_cq_flush() { pto2_cq_flush(nullptr); }

/// Adds the condition `*(uint32_t*)addr >= expected`. Too many are counted, not written: the runtime then fails the
/// task.
AICORE inline void pto2_save_expected_completion(uint32_t engine, volatile PTO2CompletionQueue* queue, uint64_t addr,
                                                 uint32_t expected) {
  const int32_t count = baton::kernel::load_relaxed(&queue->count);
  if (count >= 0 && count < PTO2_CQ_MAX_ENTRIES) {
    volatile PTO2CQEntry& entry = queue->entries[count];
    entry.engine = engine;
    entry.completion_type = COMPLETION_TYPE_COUNTER;
    entry.addr = addr;
    entry.expected_value = expected;
    entry.pad = 0;
  }
  // Pairs with the runtime's acquire load of the count: seeing it is seeing the entry.
  baton::kernel::store_release(&queue->count, count + 1);
  baton::kernel::defer_copy(addr);
}
AICORE inline void pto2_save_expected_completion(uint32_t engine, volatile PTO2CompletionQueue* queue, uint64_t addr) {
  pto2_save_expected_completion(engine, queue, addr, 1);
}

/// The record of an asynchronous copy is a counter too: its lower half becomes 1.
AICORE inline void pto2_save_expected_completion(volatile PTO2CompletionQueue* queue,
                                                 const pto::comm::AsyncEvent& event) {
  pto2_save_expected_completion(PTO2_ENGINE_SDMA, queue, event.handle, 1);
}

#endif
