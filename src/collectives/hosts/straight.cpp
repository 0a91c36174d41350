// Large blocks from each rank to each, where hosts have several: a message for each block, from where it lies to where
// it belongs. Cost: l; L L' n from a host with L members to one with L'.
#include "collectives/hosts/straight.hpp"

namespace baton::collectives {
namespace {

/// Those of other hosts, in an order in which not all begin with the same.
template <class Body>
void for_each_far_rank(const Rounds& rounds, const Body& body) {
  const HostMap& map = rounds.map();
  rounds.for_each_other_host([&](int host) {
    for (int distance = 0; distance < map.count(host); ++distance) {
      const int index = around(map.own_index(), distance, map.count(host));
      body(map.ranks(host)[static_cast<std::size_t>(index)]);
    }
  });
}

}  // namespace

bool goes_straight(const Rounds& rounds) {
  constexpr std::size_t kWorthIt = std::size_t{64} * 1024;  // docs/investigations/latency-between-hosts.md
  return rounds.call().operation == Operation::all_to_all && rounds.map().is_in_order() &&
         rounds.link().block_bytes() != 0 && rounds.call().count * rounds.element_bytes() >= kWorthIt;
}

void run_straight(Rounds& rounds, AllToAllHere exchange_here) {
  Link& link = rounds.link();
  const std::size_t all = rounds.call().count * rounds.element_bytes() * static_cast<std::size_t>(rounds.map().size());
  const bool apart = !overlap({rounds.request().in.address(), all}, {rounds.request().out.address(), all});
  bool is_done_here = false;
  const std::size_t piece = link.block_bytes() / rounds.element_bytes();
  for_each_piece(rounds.call().count, piece, [&](std::size_t first, std::size_t count) {
    const std::size_t at = first * rounds.element_bytes();
    const std::size_t bytes = count * rounds.element_bytes();
    const auto send = [&](int rank) { link.send(link.straight_to(rank), rounds.in_block(rank) + at, bytes); };
    const auto expect = [&](int rank) { link.expect(link.straight_to(rank), rounds.out_block(rank) + at, bytes); };
    const auto receive = [&](int rank) {
      rounds.receive_to(link.straight_to(rank), rounds.out_block(rank) + at, bytes);
    };
    if (apart) for_each_far_rank(rounds, expect);
    for_each_far_rank(rounds, send);
    // While these are on their way.
    if (!is_done_here) exchange_here();
    is_done_here = true;
    // What comes may belong where something lies that is sent.
    if (!apart) link.settle();
    for_each_far_rank(rounds, receive);
    link.settle();
  });
}

}  // namespace baton::collectives
