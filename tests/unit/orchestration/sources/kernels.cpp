// Kernels of the tests, without instructions: on any core. Tensors are contiguous unless said otherwise.
#include <stdint.h>
#include "intrinsic.h"
#include "pto_async_kernel_api.h"
#include "tensor.h"

#define __gm__
#define __aicore__

template <typename T>
static T* data(int64_t argument) {
  auto* tensor = reinterpret_cast<ChipTensor*>(argument);
  return reinterpret_cast<T*>(tensor->buffer.addr) + tensor->start_offset;
}
static uint32_t count(int64_t argument) {
  auto* tensor = reinterpret_cast<ChipTensor*>(argument);
  uint32_t elements = 1;
  for (uint32_t i = 0; i < tensor->ndims; ++i) elements *= tensor->shapes[i];
  return elements;
}

// out = a + b
extern "C" __aicore__ void add(__gm__ int64_t* args) {
  for (uint32_t i = 0; i < count(args[2]); ++i)
    data<float>(args[2])[i] = data<float>(args[0])[i] + data<float>(args[1])[i];
}
// out = x * factor
extern "C" __aicore__ void scale(__gm__ int64_t* args) {
  const float factor = from_u64<float>(static_cast<uint64_t>(args[2]));
  for (uint32_t i = 0; i < count(args[1]); ++i) data<float>(args[1])[i] = data<float>(args[0])[i] * factor;
}
// x += value
extern "C" __aicore__ void increase(__gm__ int64_t* args) {
  for (uint32_t i = 0; i < count(args[0]); ++i)
    data<float>(args[0])[i] += from_u64<float>(static_cast<uint64_t>(args[1]));
}
// x[block] = block + 1
extern "C" __aicore__ void mark_block(__gm__ int64_t* args) {
  data<float>(args[0])[get_block_idx(args)] = static_cast<float>(get_block_idx(args) + 1);
}
// All blocks meet: only those that run at the same time can.
extern "C" __aicore__ void meet(__gm__ int64_t* args) {
  auto* counter = data<int32_t>(args[0]);
  pto::comm::Signal signal(counter);
  pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::AtomicAdd);
  pto::comm::TWAIT(signal, get_block_num(args), pto::comm::WaitCmp::GE);
}
// x[3 * block + place]: what each core of a cluster leaves there.
extern "C" __aicore__ void cube_part(__gm__ int64_t* args) { data<float>(args[0])[3 * get_block_idx(args)] += 1; }
extern "C" __aicore__ void vector_part(__gm__ int64_t* args) {
  data<float>(args[0])[3 * get_block_idx(args) + 1 + get_sub_block_id(args)] += 10;
}
// x[0] = shape, or 1000 + dims of an empty one
extern "C" __aicore__ void tell_shape(__gm__ int64_t* args) {
  auto* seen = reinterpret_cast<ChipTensor*>(args[0]);
  data<float>(args[1])[0] = static_cast<float>(count(args[0]) == 0 ? 1000 + seen->ndims : seen->shapes[0]);
}
// The number of scalars that follow each other, as bits.
extern "C" __aicore__ void tell_scalars(__gm__ int64_t* args) {
  for (int i = 0; i < 4; ++i) data<int64_t>(args[0])[i] = args[1 + i];
}
// Complete when the counter has reached a value; the token is its output.
extern "C" __aicore__ void wait_for_counter(__gm__ int64_t* args) {
  AsyncCtx ctx = get_async_ctx(args);
  save_expected_notification_counter(ctx, reinterpret_cast<volatile void*>(args[1]), static_cast<uint32_t>(args[2]));
}
// The same in the older form: the queue is the last scalar.
extern "C" __aicore__ void wait_for_counter_in_queue(__gm__ int64_t* args) {
  volatile PTO2CompletionQueue* queue = pto2_cq_get(static_cast<uint64_t>(args[3]));
  pto2_cq_reset(queue);
  pto2_save_expected_notification_counter(queue, reinterpret_cast<volatile int32_t*>(args[1]),
                                          static_cast<uint32_t>(args[2]));
  pto2_cq_flush(queue);
}
// x[0] = the counter: after the token, which is args[0].
extern "C" __aicore__ void read_counter(__gm__ int64_t* args) {
  data<float>(args[1])[0] = static_cast<float>(*reinterpret_cast<volatile int32_t*>(args[2]));
}
// Notifies the counter.
extern "C" __aicore__ void notify(__gm__ int64_t* args) {
  send_notification(data<int32_t>(args[0]), static_cast<int32_t>(args[1]), pto::comm::NotifyOp::AtomicAdd);
}
extern "C" __aicore__ void crash(__gm__ int64_t*) { *reinterpret_cast<volatile int*>(8) = 1; }
