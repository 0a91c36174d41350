// The sum of all ranks, for every rank: y = sum of all x.
#include <baton_kernel.hpp>
#include <collectives/collectives.hpp>

using baton::Algorithm;

/// The kernel gets its part of the window and its signals, which count on from call to call.
BATON_KERNEL(allreduce, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context, int32_t mode) {
  // In the order of MODES in main.py.
  constexpr Algorithm kModes[] = {Algorithm::one_phase, Algorithm::mesh, Algorithm::ring, Algorithm::bidirectional_ring,
                                  Algorithm::interleaved_ring};
  baton::collectives::Member<float> me(context, window, signals);
  baton::collectives::allreduce(me, x.data(), y.data(), x.size(), baton::ReduceOp::sum, kModes[mode]);
}

/// From the data of one round to that of the next, for graphs that run many times as they are.
BATON_KERNEL(next_round, InOut<float> x) {
  for (int64_t i = 0; i < x.size(); ++i) x.data()[i] += 1;
}
