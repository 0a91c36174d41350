// What a rank makes of the contributions of all, once it has waited for them. Its own is still where it came from.
#pragma once

#include "collectives/mover.hpp"

namespace baton::collectives {

inline const std::byte* contribution_of(const Mover& mover, const Work& work, int rank) {
  return rank == mover.rank() ? work.input.mine : mover.contribution(rank);
}

/// The elements from `offset` on in all contributions, reduced in the order of the ranks.
inline void reduce_contributions(Mover& mover, const Work& work, std::byte* to, std::size_t offset) {
  mover.combine(
      to, mover.size(), [&](int rank) { return contribution_of(mover, work, rank) + offset; }, work.count, work,
      divisor_of(work, mover));
}

/// The block from `offset` on in each contribution, to the block of its rank in the output.
inline void gather_contributions(Mover& mover, const Work& work, std::size_t offset) {
  for (int rank = 0; rank < mover.size(); ++rank) {
    mover.copy(work.output.mine + static_cast<std::size_t>(rank) * work.output_stride,
               contribution_of(mover, work, rank) + offset, work.bytes());
  }
}

}  // namespace baton::collectives
