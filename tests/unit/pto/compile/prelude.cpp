// What generated kernels put behind our headers: words of their own for caches, masks, the clock.
#include <pto/pto-inst.hpp>

#include "backend/urma/urma_completion_kernel.h"
#include "common/platform_config.h"
#include "intrinsic.h"
#include "pto_sq_kernel_api.h"

#if defined(PTO_CPUSTUB_HPP)
#error "this names another library"
#endif

using namespace pto;

#if OWN_WORDS
#undef ENTIRE_DATA_CACHE
#undef SINGLE_CACHE_LINE
#undef DSB_DDR
#undef CACHELINE_OUT
#undef dcci
#undef dsb
namespace cache_line_t {
constexpr int ENTIRE_DATA_CACHE = 0;
constexpr int SINGLE_CACHE_LINE = 0;
constexpr int CACHELINE_OUT = 0;
}  // namespace cache_line_t
typedef int mem_dsb_t;
#define DSB_DDR 0
static inline void dcci(...) {}
static inline void dsb(mem_dsb_t) {}
#endif

// Names that sources define themselves.
#define get_subblockid() 0
template <typename T>
inline T CeilDiv(T a, T b) {
  return (a + b - 1) / b;
}
enum class PTOAutoSyncTailMode { kBarrier };
static inline void ptoas_auto_sync_tail(PTOAutoSyncTailMode) { pipe_barrier(PIPE_ALL); }
#define SPIN_WAIT_HINT()
template <typename ChipTensor>
inline int dimensions_of(const ChipTensor&) {
  return 5;
}

static __attribute__((always_inline)) inline void body(__gm__ int64_t* args) {
  set_mask_norm();
  set_vector_mask(-1, -1);
  const int64_t begin = get_sys_cnt();
  dcci((void*)args, cache_line_t::SINGLE_CACHE_LINE);
  dcci((void*)0, cache_line_t::ENTIRE_DATA_CACHE);
  dcci((void*)args, cache_line_t::ENTIRE_DATA_CACHE, cache_line_t::CACHELINE_OUT);
  dsb((mem_dsb_t)0);
  dsb(DSB_DDR);
  auto ctx = get_async_ctx(args);
  if (CeilDiv(get_sys_cnt() - begin, (int64_t)PLATFORM_PROF_SYS_CNT_FREQ) > MAX_COMPLETIONS_PER_TASK) {
    pto2::detail::defer_error(ctx, PTO2_ERROR_ASYNC_COMPLETION_INVALID);
  }
  pto2::detail::defer_flush(ctx);
  args[0] = get_subblockid() + get_sub_block_id(args) + dimensions_of(*args);
  auto* workspace = get_dma_workspace(args, DMA_WORKSPACE_URMA);
  using Line = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 1, 1>>;
  Line there(pto2::urma_backend::peer_mr_ptr<float>(workspace, 1, 64)), here(reinterpret_cast<float*>(args));
  send_request_entry(ctx, UrmaTget(here, there, workspace, 1));
  send_request_entry(ctx, UrmaTput(there, here, get_dma_workspace(args, DMA_WORKSPACE_SDMA), 1));
  SPIN_WAIT_HINT();
  ptoas_auto_sync_tail(PTOAutoSyncTailMode::kBarrier);
}

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) { body(args); }
