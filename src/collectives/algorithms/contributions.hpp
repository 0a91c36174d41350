// What a rank makes of the contributions of all, once it has waited for them.
#pragma once

#include "collectives/mover.hpp"

namespace baton::collectives {

/// The elements from `offset` on in all contributions, reduced in the order of the ranks.
inline void reduce_contributions(Mover& mover, const Work& work, std::byte* to, std::size_t offset) {
  mover.combine(
      to, mover.size(), [&](int rank) { return mover.contribution(rank) + offset; }, work.count, work,
      divisor_of(work, mover));
}

/// The block from `offset` on in each contribution, to the block of its rank in the output.
inline void gather_contributions(Mover& mover, const Work& work, std::size_t offset) {
  for (int rank = 0; rank < mover.size(); ++rank) {
    mover.copy(work.output.mine + static_cast<std::size_t>(rank) * work.output_stride,
               mover.contribution(rank) + offset, work.bytes());
  }
}

}  // namespace baton::collectives
