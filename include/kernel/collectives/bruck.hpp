// Bruck: a block travels to its receiver by the powers of two of which its distance is the sum, all blocks with the
// same bit at once.
//
//   step j: rank r takes from rank r - 2^j the blocks whose distance has bit j
//
// All-to-all: b, log2 P steps, n P / 2 bytes in each. A block has two places, which take turns: one is read while the
// other one is written. Fewer hand-offs than a mesh, more bytes: for small blocks and many ranks.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/mesh.hpp>

namespace baton::collectives {

/// In the inputs of all ranks, which have room for 2 P blocks and hold P of them.
template <class Mover>
class Bruck {
 public:
  AICORE Bruck(Mover& mover, const Work& work) : mover_(mover), work_(work) {}

  AICORE void run() {
    const int size = mover_.size();
    mover_.meet();
    std::uint64_t step = 0;
    for (int bit = 1; bit < size; bit *= 2, ++step) {
      const int source = around(mover_, -bit);
      if (step > 0) {
        mover_.wait_step(source, step);
        // The rank that took from here in the step before has read the places that are written now.
        mover_.wait_step(around(mover_, bit / 2), step);
      }
      for (int distance = bit; distance < size; ++distance) {
        if ((distance & bit) == 0) continue;
        const int turn = moves_before(distance, bit);
        mover_.copy(place(work_.input.mine, mover_.rank(), distance, turn + 1),
                    place(mover_.at(work_.input, source), source, distance, turn), work_.bytes());
      }
      mover_.step();
      mover_.tell(around(mover_, 2 * bit));  // it takes from here next
      mover_.tell(source);
    }
    for (int distance = 0; distance < size; ++distance) {
      mover_.copy(block_at(work_.output.mine, around(mover_, -distance), work_.output_stride),
                  place(work_.input.mine, mover_.rank(), distance, moves_before(distance, size)), work_.bytes());
    }
    meet_unless_held(mover_, work_);
  }

 private:
  /// How often the block for `distance` has moved before the step of `bit`.
  [[nodiscard]] AICORE static int moves_before(int distance, int bit) {
    int moves = 0;
    for (int lower = 1; lower < bit; lower *= 2) moves += (distance & lower) != 0 ? 1 : 0;
    return moves;
  }
  /// Where `rank` has the block that still is, or was, meant for the rank at `distance`, after `moves` moves.
  [[nodiscard]] AICORE std::byte* place(std::byte* input, int rank, int distance, int moves) const {
    const int slot = around(rank, distance, mover_.size()) + (moves % 2 == 0 ? 0 : mover_.size());
    return block_at(input, slot, work_.input_stride);
  }

  Mover& mover_;
  const Work& work_;
};

template <class Mover>
AICORE void all_to_all_bruck(Mover& mover, const Work& work) {
  Bruck<Mover>(mover, work).run();
}

}  // namespace baton::collectives
