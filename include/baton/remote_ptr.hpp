// Where a peer has what this rank has at an address in its own window.
#pragma once

#include <cstdint>

#include <baton/comm_context.h>

namespace pto::comm {

/// The window of `rank` in a domain of any size.
[[nodiscard]] inline std::uint64_t window_of(const CommContext* context, int rank) noexcept {
  if (rank < COMM_MAX_RANK_NUM) return context->windowsIn[rank];
  return reinterpret_cast<const CommContextLarge*>(context)->more[rank - COMM_MAX_RANK_NUM];
}

/// The address in the window of `peer` that corresponds to `local` in this rank's own.
template <class T>
[[nodiscard]] T* CommRemotePtr(const CommContext* context, T* local, int peer) noexcept {
  const std::uint64_t offset =
      reinterpret_cast<std::uint64_t>(local) - window_of(context, static_cast<int>(context->rankId));
  return reinterpret_cast<T*>(window_of(context, peer) + offset);
}

}  // namespace pto::comm
