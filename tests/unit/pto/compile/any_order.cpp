// Headers in an unusual order, with another meaning of __aicore__ before each of them.
#define __aicore__ [aicore]
#define AICORE [aicore]
#include "pto_notify_kernel_api.h"
#undef __aicore__
#define __aicore__ [aicore]
#include "pipe_sync.h"
#undef AICORE
#define AICORE [aicore]
#include "pto_sq_kernel_api.h"
#undef __aicore__
#define __aicore__ [aicore]
#include "tensor.h"
using namespace pto;
#undef __aicore__
#define __aicore__ [aicore]
#include "intrinsic.h"
// Included before, by others; it still has to set __aicore__ right.
#undef __aicore__
#define __aicore__ [aicore]
#include <pto/common/constants.hpp>
__aicore__ inline void after_constants() {}
#undef __aicore__
#define __aicore__ [aicore]
#include <pto/pto-inst.hpp>
#undef __aicore__
#define __aicore__ [aicore]
#include <pto/comm/async_common/async_types.hpp>
#include <pto/npu/comm/async/sdma/sdma_types.hpp>
#undef __aicore__
#define __aicore__ [aicore]
#include "platform_comm/comm_context.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  after_constants();
  pipe_barrier(PIPE_ALL);
  static_cast<void>(get_block_idx(args) + get_block_num(args));
  size_t n = sizeof(uintptr_t);
  static_cast<void>(n);
}
AICORE void another() {}
