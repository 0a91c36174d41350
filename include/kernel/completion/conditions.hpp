// Conditions in their newer form: registered in the slab that the runtime passed.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <intrinsic.h>
#include <pto/comm/signal.hpp>
#include <pto/target/atomics.hpp>

#if defined(BATON_KERNEL_EXPORTED) && !defined(BATON_FOR_ASCEND)
/// Kernels of this library may register conditions: platforms that launch each kernel from the host look for the name,
/// and hold back what depends on such a kernel until they have seen what it left.
extern "C" {
BATON_KERNEL_EXPORTED extern const uint32_t baton_kernels_may_defer;
const uint32_t baton_kernels_may_defer = 1;
}
#endif

AICORE inline AsyncCtx get_async_ctx(int64_t* args) { return get_local_context(args)->async_ctx; }

/// Whether the task may complete after its kernel returned.
AICORE inline bool async_ctx_is_deferred(const AsyncCtx& ctx) { return ctx.task_token.raw != ~uint64_t{0}; }

namespace baton::kernel {

/// What a core of a chip stores stays in its cache; the host reads memory.
AICORE inline void write_back(volatile void* line) {
#if defined(BATON_FOR_ASCEND)
  dcci(line, ENTIRE_DATA_CACHE, CACHELINE_OUT);
  dsb(DSB_DDR);
#else
  (void)line;
#endif
}

AICORE inline void set_completion_error(AsyncCtx& ctx, int32_t code) {
  if (ctx.completion_error_code == nullptr) return;
  store_relaxed(ctx.completion_error_code, code);
  write_back(ctx.completion_error_code);
}

AICORE inline bool is_valid_condition(const CompletionToken& token) {
  if (token.addr == 0) return false;
  if (token.completion_type == COMPLETION_TYPE_SDMA_EVENT_RECORD) return token.backend_cookie != 0;
  return token.completion_type == COMPLETION_TYPE_COUNTER;
}

/// A copy whose record a condition names need not be awaited by the kernel.
AICORE inline void defer_copy(uint64_t record) {
  BatonCore& core = current_core();
  core.table->copy_defer(&core, record);
}

}  // namespace baton::kernel

namespace pto2::detail {

/// Fails the task with this error of the slab.
AICORE inline void defer_error(AsyncCtx& ctx, int32_t code) { baton::kernel::set_completion_error(ctx, code); }

/// Publishes what was registered. Each registration does so itself; the scalar cache is written back for those that did
/// not pass through it.
AICORE inline void defer_flush(AsyncCtx& ctx) {
  dcci(ctx.completion_count, ENTIRE_DATA_CACHE, CACHELINE_OUT);
  dsb(DSB_DDR);
}

}  // namespace pto2::detail

/// Adds a condition. False if the task is not deferred; false, with an error in the slab that fails the task, if the
/// condition makes no sense (101) or there is no room for it (102).
AICORE inline bool register_completion_condition(AsyncCtx& ctx, const CompletionToken& token) {
  if (!async_ctx_is_deferred(ctx) || ctx.completion_count == nullptr || ctx.completion_entries == nullptr) return false;
  if (!baton::kernel::is_valid_condition(token)) {
    baton::kernel::set_completion_error(ctx, PTO2_ERROR_ASYNC_COMPLETION_INVALID);
    return false;
  }
  const uint32_t count = baton::kernel::load_relaxed(ctx.completion_count);
  if (count >= ctx.completion_capacity) {
    baton::kernel::set_completion_error(ctx, PTO2_ERROR_ASYNC_WAIT_OVERFLOW);
    return false;
  }
  ctx.completion_entries[count] = {token.addr,   token.backend_cookie,  token.expected_value,
                                   token.engine, token.completion_type, 0};
  // Pairs with the runtime's acquire load of the count: seeing it is seeing the entry.
  baton::kernel::store_release(ctx.completion_count, count + 1);
  baton::kernel::write_back(ctx.completion_count);
  if (token.completion_type == COMPLETION_TYPE_SDMA_EVENT_RECORD) baton::kernel::defer_copy(token.addr);
  return true;
}

/// The task completes when `counter` has reached `expected`.
AICORE inline void save_expected_notification_counter(AsyncCtx& ctx, volatile void* counter, uint32_t expected) {
  register_completion_condition(
      ctx, {reinterpret_cast<uintptr_t>(counter), expected, COMPLETION_ENGINE_SDMA, COMPLETION_TYPE_COUNTER, 0});
}

/// A TNOTIFY.
AICORE inline void send_notification(volatile void* remote, int32_t value, pto::comm::NotifyOp op,
                                     baton::kernel::Where where = baton::kernel::Where::current()) {
  const pto::comm::Signal signal(static_cast<int32_t*>(const_cast<void*>(remote)));
  pto::comm::TNOTIFY(signal, value, op, where);
}
