// Exchange: everybody offers its data, announces it, and reads what everybody offers.
//
//   rank 0  offer ─┬─> wait 1 ─> wait 2 ─> combine
//   rank 1  offer ─┼─> wait 0 ─> wait 2 ─> combine
//   rank 2  offer ─┘─> wait 0 ─> wait 1 ─> combine
//
// Cost: one hand-off, P N bytes read by each rank. The best while every rank has a processor.
#include "collectives/algorithms/algorithms.hpp"
#include "collectives/algorithms/contributions.hpp"

namespace baton::collectives {
namespace {

void exchange(Mover& mover, const std::byte* data, std::size_t bytes) {
  mover.offer(data, bytes);
  mover.announce();
  wait_all_announced(mover);
}

}  // namespace

void barrier_exchange(Mover& mover, const Work& /*work*/) {
  mover.announce();
  wait_all_announced(mover);
}

void allreduce_exchange(Mover& mover, const Work& work) {
  exchange(mover, work.input.mine, work.bytes());
  reduce_contributions(mover, work, work.output.mine, 0);
}

void reduce_scatter_exchange(Mover& mover, const Work& work) {
  exchange(mover, work.input.mine, work.bytes() * static_cast<std::size_t>(mover.size()));
  reduce_contributions(mover, work, work.output.mine, static_cast<std::size_t>(mover.rank()) * work.bytes());
}

void allgather_exchange(Mover& mover, const Work& work) {
  exchange(mover, work.input.mine, work.bytes());
  gather_contributions(mover, work, 0);
}

void all_to_all_exchange(Mover& mover, const Work& work) {
  exchange(mover, work.input.mine, work.bytes() * static_cast<std::size_t>(mover.size()));
  gather_contributions(mover, work, static_cast<std::size_t>(mover.rank()) * work.bytes());
}

}  // namespace baton::collectives
