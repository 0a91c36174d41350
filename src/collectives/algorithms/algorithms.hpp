// The algorithms of host programs alone: with contributions, up to kSlotBytes. The others are in
// include/kernel/collectives.
#pragma once

#include "collectives/mover.hpp"

namespace baton::collectives {

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

}  // namespace baton::collectives
