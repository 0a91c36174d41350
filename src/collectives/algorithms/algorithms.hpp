// All algorithms. P: ranks, N: bytes of a rank's vector, b: what a meeting costs, n: bytes of a block.
#pragma once

#include "collectives/mover.hpp"
#include "collectives/work.hpp"

namespace baton::collectives {

// With contributions, up to kSlotBytes.
void barrier_exchange(Mover& mover, const Work& work);
void barrier_meeting(Mover& mover, const Work& work);
void allreduce_exchange(Mover& mover, const Work& work);
void allreduce_meeting(Mover& mover, const Work& work);
void reduce_scatter_exchange(Mover& mover, const Work& work);
void reduce_scatter_meeting(Mover& mover, const Work& work);
void allgather_exchange(Mover& mover, const Work& work);
void allgather_meeting(Mover& mover, const Work& work);
void all_to_all_exchange(Mover& mover, const Work& work);
void all_to_all_meeting(Mover& mover, const Work& work);
void broadcast_eager(Mover& mover, const Work& work);
void reduce_eager(Mover& mover, const Work& work);
void gather_eager(Mover& mover, const Work& work);
void scatter_eager(Mover& mover, const Work& work);

// On data that the others reach.
void allreduce_mesh(Mover& mover, const Work& work);
void reduce_mesh(Mover& mover, const Work& work);
void reduce_scatter_mesh(Mover& mover, const Work& work);
void broadcast_fetch(Mover& mover, const Work& work);
void broadcast_mesh(Mover& mover, const Work& work);
void allgather_mesh(Mover& mover, const Work& work);
void all_to_all_mesh(Mover& mover, const Work& work);
void gather_mesh(Mover& mover, const Work& work);
void scatter_mesh(Mover& mover, const Work& work);
void allreduce_ring(Mover& mover, const Work& work);
void allreduce_bidirectional_ring(Mover& mover, const Work& work);
void allreduce_interleaved_ring(Mover& mover, const Work& work);
void allgather_ring(Mover& mover, const Work& work);
void allreduce_recursive_halving(Mover& mover, const Work& work);
void allreduce_tree(Mover& mover, const Work& work);
void broadcast_tree(Mover& mover, const Work& work);
void reduce_tree(Mover& mover, const Work& work);

}  // namespace baton::collectives
