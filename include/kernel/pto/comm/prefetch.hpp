// TPREFETCH_ASYNC: brings global memory nearer. Memory is as near as it gets here, so nothing moves.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/comm/async_copy.hpp>

namespace pto {

/// The session that a prefetch runs on.
struct PrefetchAsyncContext {
  comm::AsyncSession session;

  AICORE PrefetchAsyncContext(uint8_t* workspace,  // NOLINT(google-explicit-constructor)
                              baton::kernel::Where where = baton::kernel::Where::current()) {
    const comm::sdma::SdmaBaseConfig config{comm::sdma::kDefaultSdmaBlockBytes, 0, 1};
    baton::kernel::open_session<comm::DmaEngine::SDMA>(workspace, session, 0, config, UINT32_MAX, where);
  }

  AICORE comm::AsyncSession& GetSession() { return session; }
};

/// A copy of no bytes: complete when its event says so.
template <typename GlobalData>
AICORE comm::AsyncEvent TPREFETCH_ASYNC(GlobalData& tensor, PrefetchAsyncContext& context,
                                        baton::kernel::Where where = baton::kernel::Where::current()) {
  const BatonPlace place = baton::kernel::place_of("TPREFETCH_ASYNC", where);
  baton::kernel::check_line(place, "tensor", tensor);
  if (!context.session.valid) {
    baton::kernel::fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the context has no session: its workspace is null");
  }
  auto* first = baton::kernel::data_of(tensor);
  const BatonCopy copy{context.session.id, first, first, 0, nullptr, 0, 0};
  BatonCore& core = baton::kernel::current_core();
  return {core.table->copy_submit(&core, &copy, &place), comm::DmaEngine::SDMA};
}

}  // namespace pto
