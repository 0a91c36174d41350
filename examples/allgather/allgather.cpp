// Everybody gets the blocks of all ranks: y = block of rank 0, block of rank 1, ...
#include "../common/collective.hpp"

BATON_KERNEL(allgather, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context, int32_t round) {
  const collective::Member me{context, window, signals};
  const int64_t block = x.size();
  me.need(block, 1);
  collective::copy(me.mine(), x.data(), block);
  me.meet(0, 2 * round - 1);
  for (int step = 0; step < me.ranks(); ++step) {  // begins with its own, so that not all read the same rank at once
    const int peer = me.neighbour(step);
    collective::copy(y.data() + peer * block, me.theirs(peer), block);
  }
  me.meet(0, 2 * round);  // nobody stages the next round before all have read this one
}
