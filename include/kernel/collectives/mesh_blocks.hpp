// Mesh for operations that only move blocks: everybody copies what concerns it, between two meetings.
//
// 2 b, P n bytes copied by each rank; gather and scatter: P n bytes by the root, n by the others. A rank that may write
// to the outputs of others does; else everybody fetches. All begin with themselves, so that not all use one rank at
// once. What a rank gives to itself does not pass through a staged input.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/mesh.hpp>

namespace baton::collectives {

template <class Mover>
AICORE void end_of_blocks(Mover& mover, const Work& work) {
  if (work.output.shared()) return mover.meet();
  meet_unless_held(mover, work);
}

template <class Mover>
AICORE void allgather_mesh(Mover& mover, const Work& work) {
  mover.meet();
  for (int distance = 0; distance < mover.size(); ++distance) {
    const int peer = around(mover, distance);
    if (work.output.shared()) {
      mover.copy(block_at(mover.at(work.output, peer), mover.rank(), work.output_stride), work.input.mine,
                 work.bytes());
    } else {
      mover.copy(block_at(work.output.mine, peer, work.output_stride), block_from(mover, work, peer, 0), work.bytes());
    }
  }
  end_of_blocks(mover, work);
}

template <class Mover>
AICORE void all_to_all_mesh(Mover& mover, const Work& work) {
  mover.meet();
  for (int distance = 0; distance < mover.size(); ++distance) {
    const int peer = around(mover, distance);
    if (work.output.shared()) {
      mover.copy(block_at(mover.at(work.output, peer), mover.rank(), work.output_stride),
                 block_at(work.input.mine, peer, work.input_stride), work.bytes());
    } else {
      mover.copy(block_at(work.output.mine, peer, work.output_stride), block_from(mover, work, peer, mover.rank()),
                 work.bytes());
    }
  }
  end_of_blocks(mover, work);
}

template <class Mover>
AICORE void gather_mesh(Mover& mover, const Work& work) {
  mover.meet();
  if (work.output.shared()) {
    mover.copy(block_at(mover.at(work.output, work.root), mover.rank(), work.output_stride), work.input.mine,
               work.bytes());
  } else if (mover.rank() == work.root) {
    for (int rank = 0; rank < mover.size(); ++rank) {
      mover.copy(block_at(work.output.mine, rank, work.output_stride), block_from(mover, work, rank, 0), work.bytes());
    }
  }
  end_of_blocks(mover, work);
}

template <class Mover>
AICORE void scatter_mesh(Mover& mover, const Work& work) {
  mover.meet();
  mover.copy(work.output.mine, block_from(mover, work, work.root, mover.rank()), work.bytes());
  meet_unless_held(mover, work);
}

}  // namespace baton::collectives
