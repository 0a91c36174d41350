// Addresses in the windows of peers.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/comm_context.h>
#include <pto/target/fail.hpp>

namespace pto::comm {

/// Where `local`, an address in this rank's window, lies in the window of `peer`.
template <typename Element>
AICORE Element* CommRemotePtr(const CommContext* context, Element* local, int peer,
                              baton::kernel::Where where = baton::kernel::Where::current()) {
  const auto rank_count = static_cast<int64_t>(context->rankNum);
  const auto window_of = [context](int64_t rank) {
    if (rank < COMM_MAX_RANK_NUM) return context->windowsIn[rank];
    return reinterpret_cast<const CommContextLarge*>(context)->more[rank - COMM_MAX_RANK_NUM];
  };
  const BatonPlace place = baton::kernel::place_of("CommRemotePtr", where);
  if (baton::kernel::kChecks && (peer < 0 || peer >= rank_count)) {
    baton::kernel::fail(place, BATON_KERNEL_OUT_OF_RANGE, "peer ", peer, " is not in this domain of ", rank_count,
                        " ranks");
  }
  const uint64_t offset = reinterpret_cast<uintptr_t>(local) - window_of(context->rankId);
  if (baton::kernel::kChecks && offset >= context->winSize) {
    baton::kernel::fail(place, BATON_KERNEL_OUT_OF_RANGE, "the address is not in this rank's window of ",
                        context->winSize, " bytes");
  }
  return reinterpret_cast<Element*>(window_of(peer) + offset);
}

}  // namespace pto::comm
