// A layer whose weights are spread over the ranks: each multiplies its part on a cube core, then vector cores add up.
#include "../common/matrix.hpp"
#include "../common/sum_over_ranks.hpp"

/// partial = x w.
BATON_CUBE_KERNEL(multiply, In<float, 2> x, In<float, 2> w, Out<float, 2> partial) { matrix::multiply(x, w, partial); }

/// y = the sum of the partial results of all ranks.
BATON_KERNEL(add_partials, InOut<float> partial, InOut<int32_t> signals, Out<float> y, CommContext* context) {
  baton::collectives::Member<float> me(context, partial, signals);
  collective::sum_over_ranks(me, y.data(), y.size());
}
