// Fetch: the others fetch from one rank, which waits until they have.
//
//   root    step ···············─> wait for a step of each
//   others  wait for the root's step ─> copy ─> step
//
// Cost: two hand-offs, N bytes copied by each rank. Nobody has to arrive before another can begin.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

template <class Mover>
AICORE void broadcast_fetch(Mover& mover, const Work& work) {
  const bool is_root = mover.rank() == work.root;
  if (work.input_life == InputLife::until_next_meeting) {
    mover.meet();
    if (!is_root) mover.copy(work.output.mine, mover.at(work.input, work.root), work.bytes());
    return;
  }
  if (!is_root) {
    mover.wait_step(work.root, 1);
    mover.copy(work.output.mine, mover.at(work.input, work.root), work.bytes());
    mover.step();
    mover.tell(work.root);
    return;
  }
  mover.step();
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != work.root) mover.tell(peer);
  }
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != work.root) mover.wait_step(peer, 1);
  }
}

}  // namespace baton::collectives
