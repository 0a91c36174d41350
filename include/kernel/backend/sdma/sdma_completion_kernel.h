// Requests: asynchronous copies whose completion is a condition of the task.
#include <pto/target/qualifiers.hpp>
#ifndef BACKEND_SDMA_SDMA_COMPLETION_KERNEL_H
#define BACKEND_SDMA_SDMA_COMPLETION_KERNEL_H

#include <completion/conditions.hpp>
#include <pto/comm/async_copy.hpp>

enum : uint32_t { SDMA_SCRATCH_ALIGNMENT = 256 };

/// Which way the bytes go.
enum class SdmaDirection : uint32_t { Get, Put };

/// A copy that is described, not yet submitted.
template <typename DstTensor, typename SrcTensor, typename ScratchTile>
struct SdmaRequestDescriptor {
  DstTensor dst;
  SrcTensor src;
  ScratchTile scratch;
  uint8_t* workspace;
  uint32_t sync_id;
  SdmaDirection direction;
};

template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline SdmaRequestDescriptor<DstTensor, SrcTensor, ScratchTile> SdmaTget(
    const DstTensor& dst, const SrcTensor& src, const ScratchTile& scratch, uint8_t* workspace, uint32_t sync_id = 0) {
  return {dst, src, scratch, workspace, sync_id, SdmaDirection::Get};
}

template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline SdmaRequestDescriptor<DstTensor, SrcTensor, ScratchTile> SdmaTput(
    const DstTensor& dst, const SrcTensor& src, const ScratchTile& scratch, uint8_t* workspace, uint32_t sync_id = 0) {
  return {dst, src, scratch, workspace, sync_id, SdmaDirection::Put};
}

namespace baton::kernel {

/// Submits a described copy on a session of its own; the event is not valid if there is no session.
template <typename Dst, typename Src, typename Scratch>
AICORE pto::comm::AsyncEvent submit_request(Dst& dst, Src& src, Scratch& scratch, uint8_t* workspace, uint32_t sync_id,
                                            SdmaDirection direction, pto::comm::AsyncSession& session, Where where) {
  const pto::comm::sdma::SdmaBaseConfig config{pto::comm::sdma::kDefaultSdmaBlockBytes, 0, 1};
  if (!pto::comm::BuildAsyncSession(scratch, workspace, session, sync_id, config, UINT32_MAX, where)) return {};
  return direction == SdmaDirection::Get ? pto::comm::TGET_ASYNC(dst, src, session, where)
                                         : pto::comm::TPUT_ASYNC(dst, src, session, where);
}

/// Makes the completion of a copy a condition of the task; awaits it if the task is not deferred.
AICORE inline bool make_condition(AsyncCtx& ctx, const pto::comm::AsyncEvent& event,
                                  const pto::comm::AsyncSession& session, uint32_t engine, Where where) {
  if (!event.valid()) {
    set_completion_error(ctx, PTO2_ERROR_ASYNC_COMPLETION_INVALID);
    return false;
  }
  if (!async_ctx_is_deferred(ctx)) return event.Wait(session, where);
  const CompletionToken token{event.handle, 0, engine, COMPLETION_TYPE_SDMA_EVENT_RECORD, 1};
  if (register_completion_condition(ctx, token)) return true;
  event.Wait(session, where);  // its bytes must not move after the task has failed
  return false;
}

}  // namespace baton::kernel

/// Submits the copy and makes its completion a condition of the task; awaits it if the task is not deferred. False,
/// with an error in the slab, if there is no session or no room for the condition.
template <typename DstTensor, typename SrcTensor, typename ScratchTile>
AICORE inline bool send_request_entry(AsyncCtx& ctx, SdmaRequestDescriptor<DstTensor, SrcTensor, ScratchTile> request,
                                      baton::kernel::Where where = baton::kernel::Where::current()) {
  pto::comm::AsyncSession session;
  const pto::comm::AsyncEvent event = baton::kernel::submit_request(
      request.dst, request.src, request.scratch, request.workspace, request.sync_id, request.direction, session, where);
  return baton::kernel::make_condition(ctx, event, session, COMPLETION_ENGINE_SDMA, where);
}

#endif
