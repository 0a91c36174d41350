// Rank r gets block r of the sum of all ranks.
#include "../common/collective.hpp"

BATON_KERNEL(reduce_scatter, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context, int32_t round) {
  const collective::Member me{context, window, signals};
  const int64_t block = y.size();
  me.need(me.ranks() * block, 1);
  collective::copy(me.mine(), x.data(), me.ranks() * block);
  me.meet(0, 2 * round - 1);
  // In the order of the ranks: the same bits, whoever is faster.
  collective::copy(y.data(), me.theirs(0, me.rank() * block), block);
  for (int peer = 1; peer < me.ranks(); ++peer) {
    collective::add(y.data(), me.theirs(peer, me.rank() * block), block);
  }
  me.meet(0, 2 * round);  // nobody stages the next round before all have read this one
}
