// A DMA engine brings what the next rank has in its window; the task that asked for it is complete when it is here.
#include <pto_async_kernel_api.h>
#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

/// Asks for the next rank's part of the window `staged` and returns: the core is free while the engine copies.
BATON_KERNEL(fetch, In<float> staged, Out<float> got, CommContext* context) {
  const auto next = static_cast<int>((context->rankId + 1) % context->rankNum);
  auto from = staged.line();
  TASSIGN(from, pto::comm::CommRemotePtr(context, from.data(), next));
  auto to = got.line();

  pto::Tile<pto::TileType::Vec, uint8_t, 1, pto::comm::sdma::UB_ALIGN_SIZE> scratch;
  TASSIGN(scratch, 0);
  AsyncCtx completion = get_async_ctx(args);
  send_request_entry(completion, SdmaTget(to, from, scratch, get_dma_workspace(args, 0)));
}

BATON_KERNEL(add_one, In<float> got, Out<float> result) {
  for (int64_t i = 0; i < result.size(); ++i) result.data()[i] = got.data()[i] + 1;
}
