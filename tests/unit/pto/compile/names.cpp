// Names that kernels define themselves, at global scope, after `using namespace pto`.
#include <pto/comm/comm_types.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include "backend/sdma/sdma_completion_kernel.h"
#include "common/comm_context.h"
#include "intrinsic.h"
#include "pipe_sync.h"
#include "pto_async_kernel_api.h"
#include "tensor.h"

using namespace pto;

template <typename T>
AICORE inline __gm__ T* CommRemotePtr(__gm__ CommContext* ctx, __gm__ T* local, int peer) {
  return reinterpret_cast<T*>(ctx->windowsIn[peer] + (reinterpret_cast<uint64_t>(local) - ctx->windowsIn[ctx->rankId]));
}
template <typename T>
inline AICORE T* comm_remote_ptr(CommContext* ctx, T* local, int peer) {
  return CommRemotePtr(ctx, local, peer);
}
template <typename T>
static AICORE T* remote_ptr(CommContext* ctx, T* local, int peer) {
  return comm_remote_ptr(ctx, local, peer);
}
enum class Operation { ADD_SCALAR_KIND };
struct InputWindowOp {
  AICORE int value() const { return 1; }
};
struct AivAsyncSession {};
enum { ADD_SCALAR, ADD_TILES };
constexpr int N = 4, T = 5, D = 6, L = 7, R = 8, TOPK = 9, kRows = 10, kCols = 11;
constexpr size_t ALLREDUCE_COUNT = 256, NUM_RANKS = 4;
AICORE inline constexpr int CeilAlign(int a, int b) { return (a + b - 1) / b * b; }
AICORE void NeighborBarrier(CommContext*) {}
AICORE void MeshBarrier(CommContext*) {}
AICORE void RoundBarrier(CommContext*) {}
static __aicore__ inline void store_i32(volatile int32_t* a, int32_t v) { *a = v; }
static inline __aicore__ int32_t load_i32(volatile int32_t* a) { return *a; }
__aicore__ inline void ddr_fence() { dsb(DSB_DDR); }

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  auto* ctx = reinterpret_cast<CommContext*>(args[0]);
  MeshBarrier(ctx);
  NeighborBarrier(ctx);
  RoundBarrier(ctx);
  store_i32(remote_ptr(ctx, reinterpret_cast<int32_t*>(args[1]), 0), load_i32(nullptr) + N + T + D + L + R + TOPK);
  ddr_fence();
  Tensor* tensor = reinterpret_cast<Tensor*>(args[2]);
  store_i32(nullptr, static_cast<int32_t>(tensor->shapes[0]) + CeilAlign(kRows, kCols) + InputWindowOp().value());
  const half h = 1.0f;
  const bfloat16_t b = 2.0f;
  store_i32(nullptr, static_cast<int32_t>(h + b) + static_cast<int32_t>(Operation::ADD_SCALAR_KIND) + ADD_TILES);
  static_cast<void>(AivAsyncSession{});
  static_cast<void>(ALLREDUCE_COUNT + NUM_RANKS);
#if defined(SINGLE_CACHE_LINE) || defined(DSB_DDR)
#error "these are no macros"
#endif
#if defined(__CCE_AICORE__) || defined(__CCE_KT_TEST__) || defined(__DAV_C220__)
#error "these select device built-ins"
#endif
  dcci(ctx, SINGLE_CACHE_LINE, dcci_dst_t::CACHELINE_OUT);
}

// Nothing of these in pto.
namespace probe {
namespace pto_like = pto;
int Tensor;  // pto::Tensor does not exist, so that this stays unambiguous
}  // namespace probe
