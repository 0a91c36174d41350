// Eager: a rank that has data offers it and goes on; one that needs it waits for the offer.
//
//   root    offer ─> announce ─> (returns)
//   others  wait root ─> read
//
// Cost: one hand-off, N bytes. Nobody waits for a reader before its slot comes round again.
#include "collectives/algorithms/algorithms.hpp"
#include "collectives/algorithms/contributions.hpp"

namespace baton::collectives {
namespace {

/// On the root: waits for the contributions of the others.
void wait_for_others(Mover& mover) {
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != mover.rank()) mover.wait_announced(peer);
  }
}

}  // namespace

void broadcast_eager(Mover& mover, const Work& work) {
  if (mover.rank() == work.root) {
    mover.offer(work.input.mine, work.bytes());
    mover.announce();
  } else {
    mover.wait_announced(work.root);
    mover.copy(work.output.mine, mover.contribution(work.root), work.bytes());
  }
}

void reduce_eager(Mover& mover, const Work& work) {
  if (mover.rank() == work.root) {
    wait_for_others(mover);
    reduce_contributions(mover, work, work.output.mine, 0);
  } else {
    mover.offer(work.input.mine, work.bytes());
    mover.announce();
  }
}

void gather_eager(Mover& mover, const Work& work) {
  if (mover.rank() == work.root) {
    wait_for_others(mover);
    gather_contributions(mover, work, 0);
  } else {
    mover.offer(work.input.mine, work.bytes());
    mover.announce();
  }
}

void scatter_eager(Mover& mover, const Work& work) {
  const std::size_t own = static_cast<std::size_t>(mover.rank()) * work.bytes();
  if (mover.rank() != work.root) {
    mover.wait_announced(work.root);
    mover.copy(work.output.mine, mover.contribution(work.root) + own, work.bytes());
    return;
  }
  const std::size_t behind = own + work.bytes();
  const std::size_t end = work.bytes() * static_cast<std::size_t>(mover.size());
  std::byte* room = mover.room();
  mover.copy(room, work.input.mine, own);
  mover.copy(room + behind, work.input.mine + behind, end - behind);
  mover.announce();
  mover.copy(work.output.mine, work.input.mine + own, work.bytes());
}

}  // namespace baton::collectives
