// A block for each rank, or of each, over several hosts. A lane carries the blocks of the members that use it, one
// message to each host that wants them. In the cost lines n is the size of a block, L the number of members of a host.
#include "collectives/hosts/pieces.hpp"
#include "collectives/hosts/rounds.hpp"

namespace baton::collectives {
namespace {

/// Blocks of members of one host that lie side by side.
struct Stretch {
  std::size_t first;
  std::size_t count;
};

/// Blocks in the order of hosts, one for each rank of the domain, in the staging area of one member: those for a lane
/// of a host lie side by side.
Stretch stretch_of(const Rounds& rounds, int host, int lane) {
  const LaneMembers members = rounds.map().members_of(host, lane, rounds.lanes());
  return {static_cast<std::size_t>(rounds.map().first_position(host) + members.first),
          static_cast<std::size_t>(members.count)};
}

std::size_t position(const Rounds& rounds, int rank) {
  return static_cast<std::size_t>(rounds.map().position_of(rank));
}

/// The blocks that use one lane, in the staging area of who carries it: those of host 0, then those of host 1.
Stretch stretch_in_lane(const Rounds& rounds, int host, int lane) {
  std::size_t before = 0;
  for (int other = 0; other < host; ++other)
    before += static_cast<std::size_t>(rounds.map().members_of(other, lane, rounds.lanes()).count);
  return {before, static_cast<std::size_t>(rounds.map().members_of(host, lane, rounds.lanes()).count)};
}

/// The place of the block of `rank` there.
std::size_t place_in_lane(const Rounds& rounds, int rank, int lane) {
  const int host = rounds.map().host_of(rank);
  const int first = rounds.map().members_of(host, lane, rounds.lanes()).first;
  return stretch_in_lane(rounds, host, lane).first + static_cast<std::size_t>(rounds.map().index_of(rank) - first);
}

/// `body(at, count, bytes)` for each piece, which begins at byte `at` of its block. `staged(lanes)` tells how many
/// blocks a member stages at most.
template <class Staged, class Body>
void for_each_piece_of_blocks(Rounds& rounds, const Staged& staged, const Body& body) {
  const std::size_t piece = pieces_of(rounds, rounds.call().count, [&](int lanes) {
    return BlocksInARound{staged(lanes), rounds.map().most_in_a_lane(lanes)};
  });
  for_each_piece(rounds.call().count, piece, [&](std::size_t first, std::size_t count) {
    body(first * rounds.element_bytes(), count, count * rounds.element_bytes());
  });
}

}  // namespace

/// Cost: l; L n from each host to each that wants it, which for a gather is that of the root.
void run_gather(Rounds& rounds) {
  if (rounds.is_one_each()) return run_gather_of_one_each(rounds);
  const HostMap& map = rounds.map();
  const bool to_all = rounds.call().operation == Operation::allgather;
  const auto wants = [&](int host) { return to_all || host == rounds.root_host(); };
  const auto staged = [&](int lanes) { return map.most_in_a_lane_of_all(lanes); };
  for_each_piece_of_blocks(rounds, staged, [&](std::size_t at, std::size_t /*count*/, std::size_t bytes) {
    const int lane = map.lane_of(map.rank(), rounds.lanes());
    const auto in = [&] {
      rounds.here().copy(rounds.stage(lane) + place_in_lane(rounds, map.rank(), lane) * bytes,
                         rounds.request().in.address() + at, bytes);
    };
    const auto cross = [&] {
      const auto stretch = [&](int host) { return stretch_in_lane(rounds, host, rounds.own_lane()); };
      const Stretch mine = stretch(map.here());
      rounds.for_each_other_host([&](int host) {
        if (wants(host)) rounds.send(host, rounds.own_stage() + mine.first * bytes, mine.count * bytes);
      });
      rounds.for_each_other_host([&](int host) {
        if (wants(map.here()))
          rounds.receive_to(host, rounds.own_stage() + stretch(host).first * bytes, stretch(host).count * bytes);
      });
    };
    const auto out = [&] {
      if (!to_all && !rounds.is_root()) return;
      for (int rank = 0; rank < map.size(); ++rank) {
        const int from = map.lane_of(rank, rounds.lanes());
        rounds.here().copy(rounds.out_block(rank) + at, rounds.stage(from) + place_in_lane(rounds, rank, from) * bytes,
                           bytes);
      }
    };
    rounds.round(static_cast<std::size_t>(staged(rounds.lanes())) * bytes, in, cross, out);
  });
}

/// Cost: l; L n from the root's host to each other.
void run_scatter(Rounds& rounds) {
  if (rounds.is_one_each()) return run_scatter_of_one_each(rounds);
  const HostMap& map = rounds.map();
  const bool has_root = map.here() == rounds.root_host();
  const auto staged = [&](int /*lanes*/) { return map.size(); };
  for_each_piece_of_blocks(rounds, staged, [&](std::size_t at, std::size_t /*count*/, std::size_t bytes) {
    const auto in = [&] {
      if (!rounds.is_root()) return;
      for (int rank = 0; rank < map.size(); ++rank)
        rounds.here().copy(rounds.own_stage() + position(rounds, rank) * bytes, rounds.in_block(rank) + at, bytes);
    };
    const auto cross = [&] {
      const auto stretch = [&](int host) { return stretch_of(rounds, host, rounds.own_lane()); };
      if (!has_root) {
        const Stretch mine = stretch(map.here());
        return rounds.receive_to(rounds.root_host(), rounds.own_stage() + mine.first * bytes, mine.count * bytes);
      }
      const std::byte* all = rounds.stage(map.index_of(rounds.call().root));
      rounds.for_each_other_host(
          [&](int host) { rounds.send(host, all + stretch(host).first * bytes, stretch(host).count * bytes); });
    };
    const auto out = [&] {
      const int from = has_root ? map.index_of(rounds.call().root) : map.lane_of(map.rank(), rounds.lanes());
      rounds.here().copy(rounds.request().out.address() + at, rounds.stage(from) + position(rounds, map.rank()) * bytes,
                         bytes);
    };
    rounds.round(static_cast<std::size_t>(map.size()) * bytes, in, cross, out);
  });
}

/// Cost: l; L n, reduced, into each host from each other.
void run_reduce_scatter(Rounds& rounds) {
  if (rounds.is_one_each()) return run_reduce_scatter_of_one_each(rounds);
  const HostMap& map = rounds.map();
  const auto staged = [&](int /*lanes*/) { return map.size(); };
  for_each_piece_of_blocks(rounds, staged, [&](std::size_t at, std::size_t count, std::size_t bytes) {
    const auto in = [&] {
      for (int rank = 0; rank < map.size(); ++rank)
        rounds.here().copy(rounds.own_stage() + position(rounds, rank) * bytes, rounds.in_block(rank) + at, bytes);
    };
    const auto cross = [&] {
      const auto stretch = [&](int host) { return stretch_of(rounds, host, rounds.own_lane()); };
      rounds.for_each_other_host([&](int host) {
        rounds.combine_members(stretch(host).first * bytes, stretch(host).count * count);
        rounds.send(host, rounds.own_stage() + stretch(host).first * bytes, stretch(host).count * bytes);
      });
      const Stretch mine = stretch(map.here());
      rounds.combine_members(mine.first * bytes, mine.count * count);
      rounds.combine_hosts(rounds.own_stage() + mine.first * bytes, mine.count * count);
    };
    const auto out = [&] {
      rounds.here().copy(rounds.request().out.address() + at,
                         rounds.stage(map.lane_of(map.rank(), rounds.lanes())) + position(rounds, map.rank()) * bytes,
                         bytes);
    };
    rounds.round(static_cast<std::size_t>(map.size()) * bytes, in, cross, out);
  });
}

}  // namespace baton::collectives
