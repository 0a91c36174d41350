// What the kernels of the examples share beyond the collectives of <collectives/collectives.hpp>: lines of floats, and
// signals by hand.
#pragma once

#include <baton_kernel.hpp>
#include <collectives/collectives.hpp>

namespace collective {

/// to = from, either of which may lie in the window of a peer.
AICORE inline void copy(float* to, const float* from, int64_t count) {
  baton::collectives::copy_line(reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from),
                                count * static_cast<int64_t>(sizeof(float)));
}

/// to += from, which may lie in the window of a peer.
AICORE inline void add(float* to, const float* from, int64_t count) {
  const float* both[] = {to, from};
  const auto address = [](const void* context, int index) {
    return reinterpret_cast<const std::byte*>(static_cast<const float* const*>(context)[index]);
  };
  baton::collectives::combine_lines(to, 2, {both, address}, count, baton::ReduceOp::sum, 1);
}

/// One rank's place in a domain, with its part of the window and its signals. Signals are never reset: they count on
/// from round to round.
struct Member {
  const CommContext* context;
  baton::InOut<float> window;
  baton::InOut<int32_t> signals;

  AICORE int rank() const { return static_cast<int>(context->rankId); }
  AICORE int ranks() const { return static_cast<int>(context->rankNum); }
  /// A rank, counted round the ring from this one.
  AICORE int neighbour(int distance) const { return baton::collectives::around(rank(), distance, ranks()); }

  /// This rank's part.
  AICORE float* mine() const { return window.data(); }
  /// The same place in the part of `peer`.
  AICORE float* theirs(int peer) const { return pto::comm::CommRemotePtr(context, window.data(), peer); }

  /// Adds 1 to a signal of `peer`: what this rank wrote before is there when the peer sees it.
  AICORE void count(int peer, int index) const {
    pipe_barrier(PIPE_ALL);
    pto::comm::Signal there(pto::comm::CommRemotePtr(context, signals.data() + index, peer));
    pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
  }
  /// Returns when a signal of this rank is at least `value`.
  AICORE void wait(int index, int32_t value) const {
    pto::comm::Signal here(signals.data() + index);
    pto::comm::TWAIT(here, value, pto::comm::WaitCmp::GE);
    pipe_barrier(PIPE_ALL);
  }
  /// Returns when every rank has called it as often as this one: `times`, over all rounds, from 1 on.
  AICORE void meet(int index, int32_t times) const {
    for (int peer = 0; peer < ranks(); ++peer) count(peer, index);
    wait(index, times * ranks());
  }
};

}  // namespace collective
