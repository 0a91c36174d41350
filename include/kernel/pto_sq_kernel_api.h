// Requests in their older form: asynchronous copies that give the address of a flag.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_SQ_KERNEL_API_H
#define PTO_SQ_KERNEL_API_H

#include <backend/sdma/sdma_completion_kernel.h>
#include <pto_cq_kernel_api.h>

/// A copy that is described, not yet submitted. Refers to its tensors and tile, which must outlive it.
template <typename DstTensor, typename SrcTensor, typename ScratchTile>
struct PTO2SdmaDescriptor {
  DstTensor& dst;
  SrcTensor& src;
  ScratchTile& scratch;
  uint8_t* context;
  uint32_t sync_id;
  SdmaDirection direction;
};

template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline PTO2SdmaDescriptor<DstTensor, SrcTensor, ScratchTile> pto2_sdma_descriptor(DstTensor& dst, SrcTensor& src,
                                                                                         ScratchTile& scratch,
                                                                                         uint8_t* context,
                                                                                         uint32_t sync_id = 0) {
  return {dst, src, scratch, context, sync_id, SdmaDirection::Put};
}

template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline PTO2SdmaDescriptor<DstTensor, SrcTensor, ScratchTile> pto2_sdma_tget_descriptor(
    DstTensor& dst, SrcTensor& src, ScratchTile& scratch, uint8_t* context, uint32_t sync_id = 0) {
  return {dst, src, scratch, context, sync_id, SdmaDirection::Get};
}

template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline auto pto2_remote_copy_descriptor(DstTensor& dst, SrcTensor& src, ScratchTile& scratch, uint8_t* context,
                                               uint32_t sync_id = 0) {
  return pto2_sdma_descriptor(dst, src, scratch, context, sync_id);
}

template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline auto pto2_remote_copy_tget_descriptor(DstTensor& dst, SrcTensor& src, ScratchTile& scratch,
                                                    uint8_t* context, uint32_t sync_id = 0) {
  return pto2_sdma_tget_descriptor(dst, src, scratch, context, sync_id);
}

/// The address of a flag that becomes nonzero when the copy is complete; 0 if it could not be submitted.
template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline uint64_t pto2_send_request_entry(uint32_t engine, uint32_t /*queue*/,
                                               PTO2SdmaDescriptor<DstTensor, SrcTensor, ScratchTile>& request,
                                               baton::kernel::Where where = baton::kernel::Where::current()) {
  if (engine != PTO2_ENGINE_SDMA) return 0;
  pto::comm::AsyncSession session;
  return baton::kernel::submit_request(request.dst, request.src, request.scratch, request.context, request.sync_id,
                                       request.direction, session, where)
      .handle;
}

#endif
