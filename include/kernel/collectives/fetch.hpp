// Fetch: the others fetch from one rank, or in a gather put to it, and it waits until they have. In a reduce the root
// fetches, and the others wait.
//
//   root    step ···············─> wait for a step of each
//   others  wait for the root's step ─> copy ─> step
//
// Cost: two hand-offs, N bytes copied by each rank; of a reduce, (P-1) N added by the root. Nobody has to arrive before
// another can begin.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

/// Everybody copies between its memory and the root's, the root itself while the others do.
template <class Mover, class Copy>
AICORE void copy_with_root(Mover& mover, const Work& work, const Copy& copy) {
  if (mover.rank() != work.root) {
    mover.wait_step(work.root, 1);
    copy();
    mover.step();
    mover.tell(work.root);
    return;
  }
  mover.step();
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != work.root) mover.tell(peer);
  }
  copy();
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != work.root) mover.wait_step(peer, 1);
  }
}

/// Everybody takes something from the root's input.
template <class Mover, class Take>
AICORE void take_from_root(Mover& mover, const Work& work, const Take& take) {
  if (work.input_life == InputLife::until_return) return copy_with_root(mover, work, take);
  mover.meet();
  take();
}

template <class Mover>
AICORE void broadcast_fetch(Mover& mover, const Work& work) {
  take_from_root(mover, work, [&] {
    if (mover.rank() != work.root) mover.copy(work.output.mine, mover.at(work.input, work.root), work.bytes());
  });
}

template <class Mover>
AICORE void scatter_fetch(Mover& mover, const Work& work) {
  take_from_root(mover, work,
                 [&] { mover.copy(work.output.mine, block_from(mover, work, work.root, mover.rank()), work.bytes()); });
}

/// Into an output that all reach.
template <class Mover>
AICORE void gather_fetch(Mover& mover, const Work& work) {
  copy_with_root(mover, work, [&] {
    mover.copy(block_at(mover.at(work.output, work.root), mover.rank(), work.output_stride), work.input.mine,
               work.bytes());
  });
}

/// All of it by the root.
template <class Mover>
AICORE void reduce_fetch(Mover& mover, const Work& work) {
  if (mover.rank() != work.root) {
    mover.step();
    mover.tell(work.root);
    mover.wait_step(work.root, 1);
    return;
  }
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != work.root) mover.wait_step(peer, 1);
  }
  mover.combine(
      work.output.mine, mover.size(), [&](int rank) { return mover.at(work.input, rank); }, work.count, work,
      divisor_of(work, mover));
  mover.step();
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != work.root) mover.tell(peer);
  }
}

}  // namespace baton::collectives
