// Everybody gets what the root has. Signals: for each rank, the last round in which it was the root and had staged its
// data; then, for each rank, the last round that it has read from this one. They are set, not counted, since the root
// may change from round to round, and a new root does not wait for those who still read from the last one.
#include "../common/collective.hpp"

BATON_KERNEL(broadcast, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context, int32_t root, int32_t round) {
  const collective::Member me{context, window, signals};
  const int ranks = me.ranks();
  const auto count = static_cast<int64_t>(y.size());
  me.need(count, 2 * ranks);
  if (me.rank() == root) {
    collective::copy(me.mine(), x.data(), count);
    for (int peer = 0; peer < ranks; ++peer) me.set(peer, root, round);
  }
  me.wait(root, round);
  collective::copy(y.data(), me.theirs(root), count);
  me.set(root, ranks + me.rank(), round);
  if (me.rank() == root) {  // stages nothing else before all have read this
    for (int peer = 0; peer < ranks; ++peer) me.wait(ranks + peer, round);
  }
}
