// Conditions that a kernel leaves: the core waits for them before its task is complete.
#pragma once

#include <pto_cq_types.h>
#include <completion/async_ctx.hpp>
#include <pto/target/cuda/core.hpp>

namespace baton::cuda {

static_assert(sizeof(DeferredCompletionEntry) * DEFERRED_COMPLETION_CAPACITY == kQueueAt);
static_assert(sizeof(PTO2CompletionQueue) <= kConditionBytes - kQueueAt && kConditionBytes % 64 == 0);

/// A kernel of this core may leave conditions from now on.
__device__ inline void prepare_conditions(const Run& run) {
  Control& mine = control();
  mine.left.condition_count = 0;
  mine.left.condition_error = 0;
  mine.left.queued = 0;
  mine.copied = ~uint64_t{0};  // the record of any copy
  auto* entries = reinterpret_cast<DeferredCompletionEntry*>(run.conditions + uint64_t{blockIdx.x} * kConditionBytes);
  mine.local.async_ctx = AsyncCtx{&mine.left.condition_count, &mine.left.condition_error, entries,
                                  DEFERRED_COMPLETION_CAPACITY, TaskToken{mine.core_number}};
}

__device__ inline PTO2CompletionQueue& queue_of_core() {
  return *reinterpret_cast<PTO2CompletionQueue*>(
      reinterpret_cast<unsigned char*>(control().local.async_ctx.completion_entries) + kQueueAt);
}

/// A kernel of the older form comes next. Returns its last scalar.
__device__ inline int64_t begin_queue() {
  PTO2CompletionQueue& queue = queue_of_core();
  queue.count = 0;
  control().left.queued = 1;
  return reinterpret_cast<int64_t>(&queue);
}

/// What it wrote into its queue, as conditions.
__device__ __attribute__((noinline)) inline void take_queue() {
  Control& mine = control();
  const BatonPlace nowhere{"", "", 0, 0};
  const PTO2CompletionQueue& queue = queue_of_core();
  mine.left.queued = 0;
  const int32_t count = queue.count;
  const uint32_t before = mine.left.condition_count;
  if (count < 0 || count > PTO2_CQ_MAX_ENTRIES) {
    kernel::fail(nowhere, BATON_KERNEL_TOO_MANY_CONDITIONS, "it registered ", count,
                 " completion conditions in a queue with room for ", PTO2_CQ_MAX_ENTRIES);
  }
  if (before + static_cast<uint32_t>(count) > DEFERRED_COMPLETION_CAPACITY) {
    kernel::fail(nowhere, BATON_KERNEL_TOO_MANY_CONDITIONS, "it registered ", count, " completion conditions beside ",
                 before, "; there is room for ", uint32_t{DEFERRED_COMPLETION_CAPACITY});
  }
  for (int32_t i = 0; i < count; ++i) {
    const PTO2CQEntry& entry = queue.entries[i];
    // The older form asks for a copy's record as for a counter.
    const bool is_copy = entry.addr == reinterpret_cast<uint64_t>(&mine.copied);
    if (entry.addr == 0 || (entry.completion_type != COMPLETION_TYPE_COUNTER &&
                            entry.completion_type != COMPLETION_TYPE_SDMA_EVENT_RECORD)) {
      kernel::fail(nowhere, BATON_KERNEL_INVALID_ARGUMENT, "there is no completion condition of type ",
                   entry.completion_type, " on address ", entry.addr);
    }
    if (!is_copy && BatonCoreTable::address_known(nullptr, reinterpret_cast<const void*>(entry.addr), sizeof(int32_t),
                                                  nullptr, 0) == 0) {
      kernel::fail(nowhere, BATON_KERNEL_OUT_OF_RANGE, "a completion condition on a word at address ", entry.addr,
                   ", which is in no tensor and no window");
    }
    mine.local.async_ctx.completion_entries[before + i] = {
        entry.addr,
        1,
        entry.expected_value,
        entry.engine,
        is_copy ? int32_t{COMPLETION_TYPE_SDMA_EVENT_RECORD} : entry.completion_type,
        0};
  }
  mine.left.condition_count = before + static_cast<uint32_t>(count);
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
    // Pairs with the writer of the record.
    wait_until([&] { return load_acquire_gpu(record) >= cookie; },
               [&](uint64_t waited_ns) {
                 if (waited_ns <= mine.run->wait_limit_ns) return;
                 kernel::fail(nowhere, BATON_KERNEL_WAIT_TIMEOUT, "waited ", waited_ns / 1000000,
                              " ms for the record of a copy (has ", load_acquire_gpu(record), ", needs ", cookie, ")");
               });
  }
}

}  // namespace baton::cuda
