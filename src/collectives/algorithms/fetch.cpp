// Fetch: the others fetch from one rank, which waits until they have.
//
//   root    step ···············─> wait for a step of each
//   others  wait for the root's step ─> copy ─> step
//
// Cost: two hand-offs, N bytes copied by each rank. Nobody has to arrive before another can begin.
#include "collectives/algorithms/algorithms.hpp"

namespace baton::collectives {

void broadcast_fetch(Mover& mover, const Work& work) {
  const bool is_root = mover.rank() == work.root;
  const bool staged = work.input_life == InputLife::until_next_meeting;
  if (staged) {
    meet(mover);
  } else if (is_root) {
    mover.step();
  } else {
    mover.wait_step(work.root, 1);
  }
  if (!is_root) mover.copy(work.output.mine, work.input.of(work.root), work.bytes());
  if (staged) return;
  if (!is_root) return mover.step();
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != work.root) mover.wait_step(peer, 1);
  }
}

}  // namespace baton::collectives
