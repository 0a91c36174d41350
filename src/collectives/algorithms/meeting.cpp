// Meeting: everybody offers its data and arrives; the last one combines, and releases all.
//
//   rank 0  offer ─> arrive ······················ released ─> read
//   rank 1  offer ─> arrive ·········· released ─> read
//   rank 2  offer ─> arrive: last ─> combine ─> release ─> read
//
// Cost: b, P N bytes read by one rank, N by each. The best for ranks that outnumber the processors: each runs once.
#include "collectives/algorithms/algorithms.hpp"
#include "collectives/algorithms/contributions.hpp"

namespace baton::collectives {

void barrier_meeting(Mover& mover, const Work& /*work*/) { mover.meet(); }

void allreduce_meeting(Mover& mover, const Work& work) {
  mover.offer(work.input.mine, work.bytes());
  if (mover.arrive()) {
    reduce_contributions(mover, work, mover.common(), 0);
    mover.release();
  } else {
    mover.wait_released();
  }
  mover.copy(work.output.mine, mover.common(), work.bytes());
}

void reduce_scatter_meeting(Mover& mover, const Work& work) {
  mover.offer(work.input.mine, work.bytes() * static_cast<std::size_t>(mover.size()));
  mover.meet();
  reduce_contributions(mover, work, work.output.mine, static_cast<std::size_t>(mover.rank()) * work.bytes());
}

void allgather_meeting(Mover& mover, const Work& work) {
  mover.offer(work.input.mine, work.bytes());
  mover.meet();
  gather_contributions(mover, work, 0);
}

void all_to_all_meeting(Mover& mover, const Work& work) {
  mover.offer(work.input.mine, work.bytes() * static_cast<std::size_t>(mover.size()));
  mover.meet();
  gather_contributions(mover, work, static_cast<std::size_t>(mover.rank()) * work.bytes());
}

}  // namespace baton::collectives
