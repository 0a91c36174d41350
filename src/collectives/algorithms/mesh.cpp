// Mesh: everybody works on its share of everybody's data, between two meetings.
//
//   meet ─> my share of all inputs ─> reduce ─> my share of all outputs ─> meet
//
// Allreduce: 2 b, (P-1) N / P bytes reduced and as many copied by each rank. A block of a share is copied to the others
// while it is in the cache. Where the outputs of others cannot be reached, the shares are fetched after the second
// meeting instead; the input is then its own scratch.
#include "collectives/algorithms/algorithms.hpp"
#include "collectives/algorithms/contributions.hpp"

namespace baton::collectives {
namespace {

/// Bytes of a share that are worked on at once.
constexpr std::size_t kBlockBytes = std::size_t{16} * 1024;

/// Calls `body(offset, count)`, in bytes and elements, for each block of this rank's share.
template <class Body>
void for_each_block(const Mover& mover, const Work& work, Body&& body) {
  const std::size_t size = size_of(work.element);
  const Share share = share_of(work.count, size, mover.rank(), mover.size());
  const std::size_t block = kBlockBytes / size;
  for (std::size_t done = 0; done < share.count; done += block) {
    body((share.first + done) * size, std::min(block, share.count - done));
  }
}

void reduce_block(Mover& mover, const Work& work, Sources& sources, std::byte* to, std::size_t offset,
                  std::size_t count) {
  for (int rank = 0; rank < mover.size(); ++rank) sources[rank] = work.input.of(rank) + offset;
  mover.reduce(to, sources.all(), count, work.element, work.op, divisor_of(work, mover));
}

/// Until here others may read this rank's input.
void meet_unless_held(Mover& mover, const Work& work) {
  if (work.input_life == InputLife::until_return) meet(mover);
}

void fetch_shares(Mover& mover, const Work& work) {
  for (int distance = 0; distance < mover.size(); ++distance) {
    const int peer = around(mover, distance);
    const std::size_t size = size_of(work.element);
    const Share share = share_of(work.count, size, peer, mover.size());
    mover.copy(work.output.mine + share.first * size, work.input.of(peer) + share.first * size, share.count * size);
  }
}

}  // namespace

void allreduce_mesh(Mover& mover, const Work& work) {
  Sources sources(mover.size());
  meet(mover);
  if (work.output.shared()) {
    for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
      std::byte* mine = work.output.mine + offset;
      reduce_block(mover, work, sources, mine, offset, count);
      for (int distance = 1; distance < mover.size(); ++distance) {
        mover.copy(work.output.of(around(mover, distance)) + offset, mine, count * size_of(work.element));
      }
    });
    meet(mover);
    return;
  }
  for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
    reduce_block(mover, work, sources, work.input.mine + offset, offset, count);
  });
  meet(mover);
  fetch_shares(mover, work);
  meet_unless_held(mover, work);
}

void reduce_mesh(Mover& mover, const Work& work) {
  Sources sources(mover.size());
  meet(mover);
  const bool direct = work.output.shared();
  std::byte* target = direct ? work.output.of(work.root) : work.input.mine;
  for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
    reduce_block(mover, work, sources, target + offset, offset, count);
  });
  meet(mover);
  if (direct) return;
  if (mover.rank() == work.root) fetch_shares(mover, work);
  meet_unless_held(mover, work);
}

void reduce_scatter_mesh(Mover& mover, const Work& work) {
  Sources sources(mover.size());
  meet(mover);
  const std::size_t mine = static_cast<std::size_t>(mover.rank()) * work.input_stride;
  for (int rank = 0; rank < mover.size(); ++rank) sources[rank] = work.input.of(rank) + mine;
  mover.reduce(work.output.mine, sources.all(), work.count, work.element, work.op, divisor_of(work, mover));
  meet_unless_held(mover, work);
}

void broadcast_mesh(Mover& mover, const Work& work) {
  meet(mover);
  if (work.output.shared()) {
    // Everybody passes a share of the root's data on to all: it is read once instead of once by each.
    const std::byte* from = work.input.of(work.root);
    for_each_block(mover, work, [&](std::size_t offset, std::size_t count) {
      for (int distance = 0; distance < mover.size(); ++distance) {
        const int peer = around(mover, distance);
        if (peer == work.root) continue;
        mover.copy(work.output.of(peer) + offset, from + offset, count * size_of(work.element));
      }
    });
    meet(mover);
    return;
  }
  if (mover.rank() != work.root) mover.copy(work.output.mine, work.input.of(work.root), work.bytes());
  meet_unless_held(mover, work);
}

void allgather_mesh(Mover& mover, const Work& work) {
  meet(mover);
  const std::size_t mine = static_cast<std::size_t>(mover.rank()) * work.output_stride;
  for (int distance = 0; distance < mover.size(); ++distance) {
    const int peer = around(mover, distance);
    if (work.output.shared()) {
      mover.copy(work.output.of(peer) + mine, work.input.mine, work.bytes());
    } else {
      mover.copy(work.output.mine + static_cast<std::size_t>(peer) * work.output_stride, work.input.of(peer),
                 work.bytes());
    }
  }
  if (work.output.shared()) return meet(mover);
  meet_unless_held(mover, work);
}

void all_to_all_mesh(Mover& mover, const Work& work) {
  meet(mover);
  const auto self = static_cast<std::size_t>(mover.rank());
  for (int distance = 0; distance < mover.size(); ++distance) {
    const int peer = around(mover, distance);
    const auto other = static_cast<std::size_t>(peer);
    if (work.output.shared()) {
      mover.copy(work.output.of(peer) + self * work.output_stride, work.input.mine + other * work.input_stride,
                 work.bytes());
    } else {
      mover.copy(work.output.mine + other * work.output_stride, work.input.of(peer) + self * work.input_stride,
                 work.bytes());
    }
  }
  if (work.output.shared()) return meet(mover);
  meet_unless_held(mover, work);
}

void gather_mesh(Mover& mover, const Work& work) {
  meet(mover);
  if (work.output.shared()) {
    mover.copy(work.output.of(work.root) + static_cast<std::size_t>(mover.rank()) * work.output_stride, work.input.mine,
               work.bytes());
    return meet(mover);
  }
  if (mover.rank() == work.root) {
    for (int rank = 0; rank < mover.size(); ++rank) {
      mover.copy(work.output.mine + static_cast<std::size_t>(rank) * work.output_stride, work.input.of(rank),
                 work.bytes());
    }
  }
  meet_unless_held(mover, work);
}

void scatter_mesh(Mover& mover, const Work& work) {
  meet(mover);
  mover.copy(work.output.mine, work.input.of(work.root) + static_cast<std::size_t>(mover.rank()) * work.input_stride,
             work.bytes());
  meet_unless_held(mover, work);
}

}  // namespace baton::collectives
