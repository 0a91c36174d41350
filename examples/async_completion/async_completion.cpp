// Tasks that are not complete when their kernels return: an engine finishes them, and a signal or a record says when.
#include <pto_async_kernel_api.h>
#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

/// Leaves out = 2 in to an engine. Complete when the signal has reached `expected`.
BATON_KERNEL(begin_twice, In<float> in, Out<float> out, int32_t* signal, int32_t expected) {
  (void)in;
  (void)out;
  AsyncCtx context = get_async_ctx(args);
  save_expected_notification_counter(context, signal, static_cast<uint32_t>(expected));
}

/// Leaves got = what `peer` has in its window to a DMA engine. Complete when that has copied it.
BATON_KERNEL(begin_fetch, float* window, Out<float> got, const CommContext* windows, int32_t peer) {
  auto from = got.line();
  TASSIGN(from, pto::comm::CommRemotePtr(windows, window, peer));
  auto to = got.line();
  pto::Tile<pto::TileType::Vec, uint8_t, 1, pto::comm::sdma::UB_ALIGN_SIZE> scratch;
  TASSIGN(scratch, 0);
  AsyncCtx context = get_async_ctx(args);
  send_request_entry(context, SdmaTget(to, from, scratch, get_dma_workspace(args, 0)));
}

BATON_KERNEL(add_one, In<float> in, Out<float> out) {
  for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = in.data()[i] + 1;
}
