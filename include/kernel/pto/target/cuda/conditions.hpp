// Conditions that a kernel leaves: the core waits for them before its task is complete.
#pragma once

#include <completion/async_ctx.hpp>
#include <pto/target/cuda/core.hpp>

namespace baton::cuda {

static_assert(sizeof(DeferredCompletionEntry) * DEFERRED_COMPLETION_CAPACITY == kConditionBytes);

/// A kernel of this core may leave conditions from now on.
__device__ inline void prepare_conditions(const Run& run) {
  Control& mine = control();
  mine.left.condition_count = 0;
  mine.left.condition_error = 0;
  mine.copied = ~uint64_t{0};  // the record of any copy
  auto* entries =
      reinterpret_cast<DeferredCompletionEntry*>(run.conditions) + blockIdx.x * DEFERRED_COMPLETION_CAPACITY;
  mine.local.async_ctx = AsyncCtx{&mine.left.condition_count, &mine.left.condition_error, entries,
                                  DEFERRED_COMPLETION_CAPACITY, TaskToken{mine.core_number}};
}

/// After a kernel has returned with conditions, or with an error about them.
__device__ __attribute__((noinline)) inline void await_conditions() {
  Control& mine = control();
  const BatonPlace nowhere{"", "", 0, 0};
  if (mine.left.condition_error != 0) {
    const int32_t error = mine.left.condition_error;
    mine.left.condition_error = 0;
    kernel::fail(nowhere, BATON_KERNEL_INVALID_ARGUMENT, "its conditions are wrong (", error, ")");
  }
  const uint32_t count = mine.left.condition_count;
  mine.left.condition_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const DeferredCompletionEntry& entry = mine.local.async_ctx.completion_entries[i];
    if (entry.completion_type == COMPLETION_TYPE_COUNTER) {
      wait_for_signal(nowhere, reinterpret_cast<const int32_t*>(entry.addr), kAtLeast,
                      static_cast<int32_t>(entry.expected_value));
      continue;
    }
    const auto* record = reinterpret_cast<const uint64_t*>(entry.addr);
    const uint64_t cookie = entry.backend_cookie;
    // Pairs with whoever writes the record.
    wait_until([&] { return load_acquire_gpu(record) >= cookie; },
               [&](uint64_t waited_ns) {
                 if (waited_ns <= mine.run->wait_limit_ns) return;
                 kernel::fail(nowhere, BATON_KERNEL_WAIT_TIMEOUT, "waited ", waited_ns / 1000000,
                              " ms for the record of a copy (has ", load_acquire_gpu(record), ", needs ", cookie, ")");
               });
  }
}

}  // namespace baton::cuda
