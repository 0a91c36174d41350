// Where a kernel writes the conditions under which its task is complete: structs that it shares with the runtime.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>
#include <stdint.h>

#define PTO2_ERROR_ASYNC_COMPLETION_INVALID 101
#define PTO2_ERROR_ASYNC_WAIT_OVERFLOW 102
#define PTO2_ERROR_ASYNC_REGISTRATION_FAILED 103

enum : int32_t {
  COMPLETION_TYPE_COUNTER = 0,            // *(uint32_t*)addr >= expected_value, unsigned
  COMPLETION_TYPE_SDMA_EVENT_RECORD = 1,  // *(uint64_t*)addr >= backend_cookie
};

// Not the numbers of pto::comm::DmaEngine.
enum : uint32_t {
  COMPLETION_ENGINE_SDMA = 0,
  COMPLETION_ENGINE_ROCE = 1,
  COMPLETION_ENGINE_URMA = 2,
  COMPLETION_ENGINE_CCU = 3,
};

/// A condition, as kernels describe it.
struct CompletionToken {
  uint64_t addr;
  uint32_t expected_value;
  uint32_t engine;
  int32_t completion_type;
  uint64_t backend_cookie;
};

/// A condition, as the runtime reads it.
struct DeferredCompletionEntry {
  uint64_t addr;
  uint64_t backend_cookie;
  uint32_t expected_value;
  uint32_t engine;
  int32_t completion_type;
  uint32_t pad;
};

enum : uint32_t { DEFERRED_COMPLETION_CAPACITY = 64 };
inline constexpr int32_t MAX_COMPLETIONS_PER_TASK = DEFERRED_COMPLETION_CAPACITY;

/// The conditions of one running kernel: each has a slab of its own. The runtime reads `entries` after an acquire load
/// of `count`.
struct alignas(64) DeferredCompletionSlab {
  volatile uint32_t count;
  volatile int32_t error_code;
  DeferredCompletionEntry entries[DEFERRED_COMPLETION_CAPACITY];
};

struct TaskToken {
  uint64_t raw;  // all ones: the task is not deferred
};

struct AsyncCtx {
  volatile uint32_t* completion_count;
  volatile int32_t* completion_error_code;
  DeferredCompletionEntry* completion_entries;
  uint32_t completion_capacity;
  TaskToken task_token;
};

static_assert(sizeof(CompletionToken) == 32 && offsetof(CompletionToken, expected_value) == 8);
static_assert(offsetof(CompletionToken, engine) == 12 && offsetof(CompletionToken, completion_type) == 16);
static_assert(offsetof(CompletionToken, backend_cookie) == 24);
static_assert(sizeof(DeferredCompletionEntry) == 32 && offsetof(DeferredCompletionEntry, backend_cookie) == 8);
static_assert(offsetof(DeferredCompletionEntry, expected_value) == 16 &&
              offsetof(DeferredCompletionEntry, engine) == 20);
static_assert(offsetof(DeferredCompletionEntry, completion_type) == 24);
static_assert(sizeof(DeferredCompletionSlab) == 2112 && alignof(DeferredCompletionSlab) == 64);
static_assert(offsetof(DeferredCompletionSlab, error_code) == 4 && offsetof(DeferredCompletionSlab, entries) == 8);
static_assert(sizeof(AsyncCtx) == 40 && offsetof(AsyncCtx, completion_error_code) == 8);
static_assert(offsetof(AsyncCtx, completion_entries) == 16 && offsetof(AsyncCtx, completion_capacity) == 24);
static_assert(offsetof(AsyncCtx, task_token) == 32);
