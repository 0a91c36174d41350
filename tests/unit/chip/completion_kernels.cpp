// Kernels that return before their work is finished.
#include "completion_kernels.hpp"

#include <pto_async_kernel_api.h>
#include <tensor.h>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

using Line = GlobalTensor<float, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>>;
using Scratch = Tile<TileType::Vec, uint8_t, 1, 256>;

Line line_of(int64_t argument) {
  auto* tensor = reinterpret_cast<Tensor*>(argument);
  return {reinterpret_cast<float*>(tensor->buffer.addr), Shape<1, 1, 1, 1, DYNAMIC>(tensor->shapes[0])};
}

Scratch scratch_tile() {
  Scratch scratch;
  TASSIGN(scratch, 0);
  return scratch;
}

}  // namespace

extern "C" {

void await_counter_kernel(int64_t* args) {
  AsyncCtx ctx = get_async_ctx(args);
  for (int64_t i = 0; i < args[2]; ++i) {
    save_expected_notification_counter(ctx, reinterpret_cast<volatile void*>(args[0]), static_cast<uint32_t>(args[1]));
  }
}

void await_counter_in_queue_kernel(int64_t* args) {
  volatile PTO2CompletionQueue* queue = pto2_cq_get(static_cast<uint64_t>(args[3]));
  pto2_cq_reset(queue);
  for (int64_t i = 0; i < args[2]; ++i) {
    pto2_save_expected_notification_counter(queue, reinterpret_cast<volatile int32_t*>(args[0]),
                                            static_cast<uint32_t>(args[1]));
  }
  pto2_cq_flush(queue);
}

void get_kernel(int64_t* args) {
  AsyncCtx ctx = get_async_ctx(args);
  send_request_entry(ctx, SdmaTget(line_of(args[1]), line_of(args[0]), scratch_tile(), get_dma_workspace(args, 0)));
}

void get_in_queue_kernel(int64_t* args) {
  volatile PTO2CompletionQueue* queue = pto2_cq_get(static_cast<uint64_t>(args[2]));
  Line to = line_of(args[1]);
  Line from = line_of(args[0]);
  Scratch scratch = scratch_tile();
  auto request = pto2_remote_copy_tget_descriptor(to, from, scratch, get_dma_workspace(args, 0));
  const uint64_t flag = pto2_send_request_entry(PTO2_ENGINE_SDMA, PTO2_SQ_ID_AUTO, request);
  pto2_save_expected_completion(PTO2_ENGINE_SDMA, queue, flag);
}

void get_from_nowhere_kernel(int64_t* args) {
  // Around the checks of TGET_ASYNC: some errors only the engine can see.
  static float nowhere[8];
  AsyncCtx ctx = get_async_ctx(args);
  BatonCore* core = baton_core_current();
  const BatonPlace place{"TGET_ASYNC", "nowhere.cpp", 1, 0};
  const BatonCopy copy{1, line_of(args[0]).data(), nowhere, sizeof nowhere, nullptr, 0, 0};
  const uint64_t record = core->table->copy_submit(core, &copy, &place);
  register_completion_condition(ctx, {record, 0, COMPLETION_ENGINE_SDMA, COMPLETION_TYPE_SDMA_EVENT_RECORD, 1});
}

void senseless_kernel(int64_t* args) {
  AsyncCtx ctx = get_async_ctx(args);
  register_completion_condition(ctx, {0, 1, COMPLETION_ENGINE_SDMA, COMPLETION_TYPE_COUNTER, 0});
}

void many_copies_kernel(int64_t* args) {
  Scratch scratch = scratch_tile();
  comm::AsyncSession session;
  comm::BuildAsyncSession(scratch, get_dma_workspace(args, 0), session);
  Line to = line_of(args[1]);
  Line from = line_of(args[0]);
  comm::AsyncEvent last;
  for (int64_t i = 0; i < args[2]; ++i) last = comm::TGET_ASYNC(to, from, session);
  last.Wait(session);
}

void wait_and_go_on_kernel(int64_t* args) {
  comm::Signal signal(reinterpret_cast<int32_t*>(args[0]));
  comm::TWAIT(signal, 1, comm::WaitCmp::GE);
  *reinterpret_cast<int32_t*>(args[1]) = 1;
}
}
