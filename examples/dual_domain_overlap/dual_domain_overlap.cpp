// A sum over the ranks of one domain, and the sum of two of them.
#include "../common/collective.hpp"

BATON_KERNEL(allreduce, In<float> x, InOut<float> window, InOut<int32_t> signals, Out<float> sum,
             CommContext* context) {
  baton::collectives::Member<float> me(context, window, signals);
  baton::collectives::allreduce(me, x.data(), sum.data(), x.size());
}

/// both = left + right.
BATON_KERNEL(add_sums, In<float> left, In<float> right, Out<float> both) {
  collective::copy(both.data(), left.data(), both.size());
  collective::add(both.data(), right.data(), both.size());
}
