// Data of a kernel that lies anywhere passes through its room, piece by piece.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/called.hpp>
#include <collectives/work.hpp>

namespace baton::collectives {

/// What is where in the room. Counts are those of a piece's blocks.
struct Staging {
  int input_blocks = 1;   // blocks of this rank's input; 0: it has none
  int output_blocks = 1;  // and of its output; 0: it wants none
  int room_blocks = 1;
  /// The algorithm works in the outputs of all ranks: the room is output, and copied from there.
  bool in_output = false;
};

/// Elements of a block that fit into the room at once.
template <class Member>
[[nodiscard]] AICORE std::size_t piece_of(const Member& me, const Work& call, int room_blocks) {
  const std::size_t piece =
      static_cast<std::size_t>(me.room_bytes()) / static_cast<std::size_t>(room_blocks) / call.element_bytes;
  if (piece == 0 && call.count != 0) {
    me.fail("the room has ", me.room_bytes(), " bytes; ", room_blocks, " elements of ", call.element_bytes,
            " bytes must fit into it");
  }
  return piece;
}

/// One piece of a collective of `call.count` elements from x to y: elements [first, first + count) of each block. The
/// strides of `call` are those of the blocks in x and y.
template <class Member, class Run>
AICORE void run_piece(Member& me, const Work& call, const Staging& staging, const std::byte* x, std::byte* y,
                      std::size_t first, std::size_t count, const Run& run) {
  const std::size_t skipped = first * call.element_bytes;
  const std::size_t stride = count * call.element_bytes;
  Work work = call;
  work.count = count;
  work.input = {me.room(), Reach::all_ranks};
  work.input_stride = stride;
  if (staging.in_output) {
    const bool many = staging.room_blocks > 1;
    work.output = work.input;
    work.output_stride = stride;
    work.input.mine = block_at(me.room(), many ? me.rank() : 0, stride);
    if (staging.input_blocks > 0) me.copy(work.input.mine, x + skipped, stride);
    run(me, work);
    for (int block = 0; block < staging.output_blocks; ++block) {
      me.copy(block_at(y, block, call.output_stride) + skipped, block_at(me.room(), block, stride), stride);
    }
    return;
  }
  for (int block = 0; block < staging.input_blocks; ++block) {
    me.copy(block_at(me.room(), block, stride), block_at(x, block, call.input_stride) + skipped, stride);
  }
  work.output.mine = staging.output_blocks > 0 ? y + skipped : nullptr;
  run(me, work);
}

/// What is called, as the members compare it.
[[nodiscard]] AICORE inline Called called_of(Operation operation, const Work& call, Algorithm algorithm) {
  return {operation, call.element, call.op, algorithm, call.root, call.count};
}

/// All pieces.
template <class Member, class Run>
AICORE void run_staged(Member& me, Operation operation, const Work& call, const Staging& staging, Algorithm algorithm,
                       const std::byte* x, std::byte* y, const Run& run) {
  const std::size_t piece = piece_of(me, call, staging.room_blocks);
  me.announce(called_of(operation, call, algorithm));
  for (std::size_t first = 0; first < call.count; first += piece) {
    const std::size_t left = call.count - first;
    me.begin(most_steps(algorithm, me.size()));
    run_piece(me, call, staging, x, y, first, left < piece ? left : piece, run);
    me.end();
  }
}

}  // namespace baton::collectives
