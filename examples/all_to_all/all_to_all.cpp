// Block r of x goes to rank r, which has a place for each sender.
#include "../common/collective.hpp"

BATON_KERNEL(all_to_all, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context, int32_t round) {
  const collective::Member me{context, window, signals};
  const int ranks = me.ranks();
  const int64_t block = static_cast<int64_t>(x.size()) / ranks;
  me.need(ranks * block, ranks + 1);
  for (int step = 0; step < ranks; ++step) {  // everybody begins with another receiver
    const int peer = me.neighbour(step);
    collective::put(me.theirs(peer, me.rank() * block), x.data() + peer * block, block);
    me.count(peer, me.rank());
  }
  for (int step = 0; step < ranks; ++step) {
    const int sender = me.neighbour(-step);
    me.wait(sender, round);  // its signal, one for each sender: a block is taken as soon as it is there
    collective::copy(y.data() + sender * block, me.mine(sender * block), block);
  }
  me.meet(ranks, round);  // nobody puts the next round before all have taken this one
}
