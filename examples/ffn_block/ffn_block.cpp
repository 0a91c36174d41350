// Two layers whose weights are spread over the ranks, with GELU between them, and the sum over the ranks in chunks.
#include <pto/comm/pto_comm_inst.hpp>

#include "../common/matrix.hpp"
#include "../common/vector_lines.hpp"

/// y = x w.
BATON_CUBE_KERNEL(multiply, In<float, 2> x, In<float, 2> w, Out<float, 2> y) { matrix::multiply(x, w, y); }

BATON_KERNEL(activate, InOut<float> x) {
  lines::transform(x.data(), x.data(), x.size(),
                   [](lines::Piece& values, int64_t count) { lines::gelu(values, count); });
}

/// Tells all ranks that this one's partial result is in its window. `signal` is one of this rank's.
BATON_KERNEL(show, In<float> partial, int32_t* signal, const CommContext* signals) {
  (void)partial;
  for (int peer = 0; peer < static_cast<int>(signals->rankNum); ++peer) {
    const pto::comm::Signal there(pto::comm::CommRemotePtr(signals, signal, peer));
    pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
  }
}

/// y = the sum of all ranks' partial results, by rank, so that all get the same bits. All are shown; then tells all
/// that this rank has taken theirs.
BATON_KERNEL(add_partials, Out<float> y, float* partial, const CommContext* window, int32_t* taken,
             const CommContext* signals) {
  lines::add_up(y.data(), static_cast<int>(window->rankNum), y.size(),
                [&](int peer) { return pto::comm::CommRemotePtr(window, partial, peer); });
  for (int peer = 0; peer < static_cast<int>(signals->rankNum); ++peer) {
    const pto::comm::Signal there(pto::comm::CommRemotePtr(signals, taken, peer));
    pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
  }
}
