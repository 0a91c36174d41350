// A sum over the ranks of one domain, and the sum of two of them.
#include "../common/sum_over_ranks.hpp"

BATON_KERNEL(allreduce, In<float> x, InOut<float> window, InOut<int32_t> signals, Out<float> sum, CommContext* context,
             int32_t epoch) {
  const collective::Member me{context, window, signals};
  collective::copy(me.mine(), x.data(), x.size());
  collective::sum_over_ranks(me, sum.data(), sum.size(), epoch);
}

/// both = left + right.
BATON_KERNEL(add_sums, In<float> left, In<float> right, Out<float> both) {
  collective::copy(both.data(), left.data(), both.size());
  collective::add(both.data(), right.data(), both.size());
}
