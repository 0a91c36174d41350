// Requests on the engine that reaches peers' memory directly: no scratch tile, the peer named by its number.
#include <pto/target/qualifiers.hpp>
#ifndef BACKEND_URMA_URMA_COMPLETION_KERNEL_H
#define BACKEND_URMA_URMA_COMPLETION_KERNEL_H

#include <baton/comm_context.h>
#include <pto_async_kernel_api.h>

namespace pto2::urma_backend {

/// A place in the window of `peer`. `workspace` is the domain's CommContext.workSpace.
template <typename Element>
AICORE inline Element* peer_mr_ptr(uint8_t* workspace, uint32_t peer, uint64_t offset) {
  const auto* context = reinterpret_cast<const CommContext*>(workspace);
  const uint64_t window = peer < COMM_MAX_RANK_NUM
                              ? context->windowsIn[peer]
                              : reinterpret_cast<const CommContextLarge*>(context)->more[peer - COMM_MAX_RANK_NUM];
  return reinterpret_cast<Element*>(window + offset);
}

}  // namespace pto2::urma_backend

/// A copy that is described, not yet submitted.
template <typename DstTensor, typename SrcTensor>
struct UrmaRequestDescriptor {
  DstTensor dst;
  SrcTensor src;
  uint8_t* workspace;
  uint32_t peer;
  SdmaDirection direction;
};

template <typename DstTensor, typename SrcTensor>
AICORE inline UrmaRequestDescriptor<DstTensor, SrcTensor> UrmaTget(const DstTensor& dst, const SrcTensor& src,
                                                                   uint8_t* workspace, uint32_t peer) {
  return {dst, src, workspace, peer, SdmaDirection::Get};
}

template <typename DstTensor, typename SrcTensor>
AICORE inline UrmaRequestDescriptor<DstTensor, SrcTensor> UrmaTput(const DstTensor& dst, const SrcTensor& src,
                                                                   uint8_t* workspace, uint32_t peer) {
  return {dst, src, workspace, peer, SdmaDirection::Put};
}

/// As for the requests of the system DMA engine.
template <typename DstTensor, typename SrcTensor>
AICORE inline bool send_request_entry(AsyncCtx& ctx, UrmaRequestDescriptor<DstTensor, SrcTensor> request,
                                      baton::kernel::Where where = baton::kernel::Where::current()) {
  constexpr pto::comm::DmaEngine kEngine = pto::comm::DmaEngine::URMA;
  const pto::comm::sdma::SdmaBaseConfig config{pto::comm::sdma::kDefaultSdmaBlockBytes, 0, 1};
  pto::comm::AsyncSession session;
  pto::comm::AsyncEvent event;
  if (baton::kernel::open_session<kEngine>(request.workspace, session, 0, config, request.peer, where)) {
    event = request.direction == SdmaDirection::Get
                ? pto::comm::TGET_ASYNC<kEngine>(request.dst, request.src, session, where)
                : pto::comm::TPUT_ASYNC<kEngine>(request.dst, request.src, session, where);
  }
  return baton::kernel::make_condition(ctx, event, session, COMPLETION_ENGINE_URMA, where);
}

#endif
