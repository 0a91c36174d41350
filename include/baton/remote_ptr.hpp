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

/// A CommContext as host code passes it: where a file also has the headers of kernels, their CommRemotePtr, which takes
/// the pointer itself and checks more, is the better match.
struct HostContext {
  const CommContext* context;
  HostContext(const CommContext* given) noexcept : context(given) {}  // NOLINT(google-explicit-constructor)
};

/// The address in the window of `peer` that corresponds to `local` in this rank's own.
template <class T>
[[nodiscard]] T* CommRemotePtr(HostContext host, T* local, int peer) noexcept {
  const std::uint64_t offset =
      reinterpret_cast<std::uint64_t>(local) - window_of(host.context, static_cast<int>(host.context->rankId));
  return reinterpret_cast<T*>(window_of(host.context, peer) + offset);
}

}  // namespace pto::comm
