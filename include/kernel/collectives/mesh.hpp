// Mesh: everybody works on its share of everybody's data, between two meetings.
//
//   meet ─> my share of all inputs ─> reduce ─> my share of all outputs ─> meet
//
// Allreduce: 2 b (3 b with private outputs), (P-1) N / P bytes reduced and as many copied by each rank. A block of a
// share is copied to the others while it is in the cache. Where the outputs of others cannot be reached, the shares are
// fetched after the second meeting instead; the input is then its own scratch.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

/// Until here others may read this rank's input.
template <class Mover>
AICORE void meet_unless_held(Mover& mover, const Work& work) {
  if (work.input_life == InputLife::until_return) mover.meet();
}

/// Calls `body(offset, count)`, in bytes and elements, for each block of this rank's share.
template <class Mover, class Body>
AICORE void for_each_block(const Mover& mover, const Work& work, const Body& body) {
  constexpr std::size_t kBlockBytes = std::size_t{16} * 1024;
  const std::size_t size = work.element_bytes;
  const Share share = share_of(work.count, size, mover.rank(), mover.size());
  const std::size_t block = kBlockBytes / size;
  for (std::size_t done = 0; done < share.count; done += block) {
    const std::size_t left = share.count - done;
    body((share.first + done) * size, left < block ? left : block);
  }
}

/// to = the elements from `offset` on in the inputs of all, reduced in the order of the ranks. Those of this rank are
/// at `own`.
template <class Mover>
AICORE void combine_inputs(Mover& mover, const Work& work, std::byte* to, std::size_t offset, const std::byte* own,
                           std::size_t count) {
  const auto source = [&](int rank) -> const std::byte* {
    return rank == mover.rank() ? own : mover.at(work.input, rank) + offset;
  };
  mover.combine(to, mover.size(), source, count, work, divisor_of(work, mover));
}
/// The same for vectors.
template <class Mover>
AICORE void combine_inputs(Mover& mover, const Work& work, std::byte* to, std::size_t offset, std::size_t count) {
  const std::byte* own = work.own != nullptr ? work.own : mover.at(work.input, mover.rank());
  combine_inputs(mover, work, to, offset, own + offset, count);
}

template <class Mover>
AICORE void fetch_shares(Mover& mover, const Work& work) {
  const std::size_t size = work.element_bytes;
  for (int distance = 0; distance < mover.size(); ++distance) {
    const int peer = around(mover, distance);
    const Share share = share_of(work.count, size, peer, mover.size());
    mover.copy(work.output.mine + share.first * size, mover.at(work.input, peer) + share.first * size,
               share.count * size);
  }
}

template <class Mover>
AICORE void allreduce_mesh(Mover& mover, const Work& work) {
  mover.meet();
  if (work.output.shared()) {
    for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
      std::byte* mine = work.output.mine + offset;
      combine_inputs(mover, work, mine, offset, count);
      for (int distance = 1; distance < mover.size(); ++distance) {
        mover.copy(mover.at(work.output, around(mover, distance)) + offset, mine, count * work.element_bytes);
      }
    });
    mover.meet();
    return;
  }
  for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
    combine_inputs(mover, work, work.input.mine + offset, offset, count);
  });
  mover.meet();
  fetch_shares(mover, work);
  meet_unless_held(mover, work);
}

/// Everybody reduces everything: 2 b, P N bytes read by each rank. The output is none of the inputs.
template <class Mover>
AICORE void allreduce_one_phase(Mover& mover, const Work& work) {
  mover.meet();
  combine_inputs(mover, work, work.output.mine, 0, work.count);
  meet_unless_held(mover, work);
}

/// 2 b (3 b with a private output), N bytes reduced by all together.
template <class Mover>
AICORE void reduce_mesh(Mover& mover, const Work& work) {
  mover.meet();
  const bool direct = work.output.shared();
  std::byte* target = direct ? mover.at(work.output, work.root) : work.input.mine;
  for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
    combine_inputs(mover, work, target + offset, offset, count);
  });
  mover.meet();
  if (direct) return;
  if (mover.rank() == work.root) fetch_shares(mover, work);
  meet_unless_held(mover, work);
}

/// 2 b, P n bytes reduced by each rank.
template <class Mover>
AICORE void reduce_scatter_mesh(Mover& mover, const Work& work) {
  mover.meet();
  const std::byte* own = block_from(mover, work, mover.rank(), mover.rank());
  combine_inputs(mover, work, work.output.mine, static_cast<std::size_t>(mover.rank()) * work.input_stride, own,
                 work.count);
  meet_unless_held(mover, work);
}

/// 2 b, N bytes copied by each rank. With outputs that all reach, everybody passes a share of the root's data on to
/// all: it is read once instead of once by each.
template <class Mover>
AICORE void broadcast_mesh(Mover& mover, const Work& work) {
  mover.meet();
  if (work.output.shared()) {
    const std::byte* from = mover.at(work.input, work.root);
    for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
      for (int distance = 0; distance < mover.size(); ++distance) {
        const int peer = around(mover, distance);
        if (peer == work.root) continue;
        mover.copy(mover.at(work.output, peer) + offset, from + offset, count * work.element_bytes);
      }
    });
    mover.meet();
    return;
  }
  if (mover.rank() != work.root) mover.copy(work.output.mine, mover.at(work.input, work.root), work.bytes());
  meet_unless_held(mover, work);
}

}  // namespace baton::collectives
