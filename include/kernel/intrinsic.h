// Where a kernel runs: what the runtime passes behind the arguments.
#include <pto/target/qualifiers.hpp>
#ifndef INTRINSIC_H
#define INTRINSIC_H

#include <completion/async_ctx.hpp>

/// args[PTO_LOCAL_CONTEXT_INDEX].
struct LocalContext {
  int32_t block_idx;
  int32_t block_num;
  AsyncCtx async_ctx;
};

/// args[PTO_GLOBAL_CONTEXT_INDEX].
struct GlobalContext {
  int32_t sub_block_id;
  uint64_t dma_workspace[2];  // by kind; 0 if there is none
};

static_assert(sizeof(LocalContext) == 48 && offsetof(LocalContext, block_num) == 4 &&
              offsetof(LocalContext, async_ctx) == 8);
static_assert(sizeof(GlobalContext) == 24 && offsetof(GlobalContext, dma_workspace) == 8);

enum : int {
  PTO_MAX_TENSOR_ARGS = 32,
  PTO_MAX_SCALAR_ARGS = 16,
  PTO_LOCAL_CONTEXT_INDEX = PTO_MAX_TENSOR_ARGS + PTO_MAX_SCALAR_ARGS,
  PTO_GLOBAL_CONTEXT_INDEX = PTO_LOCAL_CONTEXT_INDEX + 1,
};

/// Kinds of workspaces of asynchronous copies.
enum : int { DMA_WORKSPACE_SDMA = 0, DMA_WORKSPACE_URMA = 1 };

AICORE inline LocalContext* get_local_context(int64_t* args) {
  return reinterpret_cast<LocalContext*>(args[PTO_LOCAL_CONTEXT_INDEX]);
}
AICORE inline GlobalContext* get_global_context(int64_t* args) {
  return reinterpret_cast<GlobalContext*>(args[PTO_GLOBAL_CONTEXT_INDEX]);
}

AICORE inline int32_t get_block_idx(int64_t* args) { return get_local_context(args)->block_idx; }
AICORE inline int32_t get_block_num(int64_t* args) { return get_local_context(args)->block_num; }
AICORE inline int32_t get_sub_block_id(int64_t* args) { return get_global_context(args)->sub_block_id; }

/// Null if there is none of that kind.
AICORE inline uint8_t* get_dma_workspace(int64_t* args, int kind) {
  if (kind < 0 || kind > 1) return nullptr;
  return reinterpret_cast<uint8_t*>(get_global_context(args)->dma_workspace[kind]);
}

#endif
