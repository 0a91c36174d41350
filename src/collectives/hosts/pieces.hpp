// How much of each block goes over in a round.
#pragma once

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "collectives/hosts/rounds.hpp"

namespace baton::collectives {

/// Of a round, with some number of lanes: how many blocks a member stages at most, and how many are in a message.
struct BlocksInARound {
  int staged;
  int sent;
};

/// Chooses the lanes for blocks of `count` elements and returns how many elements of each go over in a round.
/// `blocks(lanes)` tells how many blocks there are then.
template <class Blocks>
[[nodiscard]] std::size_t pieces_of(Rounds& rounds, std::size_t count, const Blocks& blocks) {
  const auto fit = [&] {
    const BlocksInARound there_are = blocks(rounds.lanes());
    const std::size_t block = std::min(rounds.staging_bytes() / static_cast<std::size_t>(there_are.staged),
                                       rounds.link().message_bytes() / static_cast<std::size_t>(there_are.sent));
    return block / rounds.element_bytes();
  };
  rounds.use_lanes_for(count * rounds.element_bytes() * static_cast<std::size_t>(blocks(1).sent));
  if (fit() == 0) rounds.use_all_lanes();
  if (fit() != 0) return fit();
  throw Error(Code::unsupported, fmt::format("{} of {} ranks on {} hosts: an element of each does not fit into the {} "
                                             "bytes through which a message goes",
                                             describe(rounds.call()), rounds.map().size(), rounds.map().hosts(),
                                             rounds.link().message_bytes()));
}

}  // namespace baton::collectives
