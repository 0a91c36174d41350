// Notifications in their older form.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_NOTIFY_KERNEL_API_H
#define PTO_NOTIFY_KERNEL_API_H

#include <pto_cq_kernel_api.h>

/// The opposite order of pto::comm::NotifyOp.
enum class PTO2NotifyOp : uint32_t { Set, AtomicAdd };

AICORE inline void pto2_send_notification(volatile int32_t* remote, int32_t value = 1,
                                          PTO2NotifyOp op = PTO2NotifyOp::AtomicAdd,
                                          baton::kernel::Where where = baton::kernel::Where::current()) {
  send_notification(remote, value, op == PTO2NotifyOp::Set ? pto::comm::NotifyOp::Set : pto::comm::NotifyOp::AtomicAdd,
                    where);
}

/// The task completes when `counter` has reached `expected`.
AICORE inline void pto2_save_expected_notification_counter(volatile PTO2CompletionQueue* queue,
                                                           volatile int32_t* counter, uint32_t expected) {
  pto2_save_expected_completion(PTO2_ENGINE_SDMA, queue, reinterpret_cast<uintptr_t>(counter), expected);
}

#endif
