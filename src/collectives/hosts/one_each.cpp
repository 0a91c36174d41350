// Blocks where every host has one member: nothing is staged, they go from where they lie to where they belong. In the
// cost lines n is the size of a block.
#include "collectives/hosts/rounds.hpp"

namespace baton::collectives {
namespace {

/// `body(at, count, bytes)` is a round of `count` elements, from byte `at` of each block on.
template <class Body>
void in_rounds(Rounds& rounds, const Body& body) {
  const std::size_t piece = rounds.link().message_bytes() / rounds.element_bytes();
  const auto nothing = [] {};
  for_each_piece(rounds.call().count, piece, [&](std::size_t first, std::size_t count) {
    const auto cross = [&] { body(first * rounds.element_bytes(), count, count * rounds.element_bytes()); };
    rounds.round(0, nothing, cross, nothing);
  });
}

/// This rank has a block for those that `gives` tells, at `from(rank)`, and gets one from those that `takes` tells, to
/// `to(rank)`.
template <class Gives, class From, class Takes, class To>
void pass(Rounds& rounds, const Gives& gives, const From& from, const Takes& takes, const To& to) {
  const HostMap& map = rounds.map();
  const int self = map.rank();
  in_rounds(rounds, [&](std::size_t at, std::size_t /*count*/, std::size_t bytes) {
    rounds.for_each_other_host([&](int host) {
      const int rank = map.ranks(host).front();
      if (gives(rank)) rounds.link().send(host, from(rank) + at, bytes);
    });
    // What comes may belong where something lies that is sent.
    rounds.link().settle();
    if (gives(self) && takes(self)) rounds.here().copy(to(self) + at, from(self) + at, bytes);
    rounds.for_each_other_host([&](int host) {
      const int rank = map.ranks(host).front();
      if (takes(rank)) rounds.receive_to(host, to(rank) + at, bytes);
    });
  });
}

}  // namespace

/// Cost: l; n to each that wants it.
void run_gather_of_one_each(Rounds& rounds) {
  const bool to_all = rounds.call().operation == Operation::allgather;
  const auto wants = [&](int rank) { return to_all || rank == rounds.call().root; };
  pass(
      rounds, wants, [&](int /*rank*/) { return rounds.request().in.address(); },
      [&](int /*rank*/) { return wants(rounds.map().rank()); }, [&](int rank) { return rounds.out_block(rank); });
}

/// Cost: l; n to each from the root.
void run_scatter_of_one_each(Rounds& rounds) {
  pass(
      rounds, [&](int /*rank*/) { return rounds.is_root(); }, [&](int rank) { return rounds.in_block(rank); },
      [&](int rank) { return rank == rounds.call().root; },
      [&](int /*rank*/) { return rounds.request().out.address(); });
}

/// Cost: l; n to each.
void run_all_to_all_of_one_each(Rounds& rounds) {
  const auto always = [](int /*rank*/) { return true; };
  pass(
      rounds, always, [&](int rank) { return rounds.in_block(rank); }, always,
      [&](int rank) { return rounds.out_block(rank); });
}

/// Cost: l; n to each.
void run_reduce_scatter_of_one_each(Rounds& rounds) {
  const HostMap& map = rounds.map();
  in_rounds(rounds, [&](std::size_t at, std::size_t count, std::size_t bytes) {
    rounds.for_each_other_host(
        [&](int host) { rounds.link().send(host, rounds.in_block(map.ranks(host).front()) + at, bytes); });
    // The result may belong where something lies that is sent.
    rounds.link().settle();
    std::byte* mine = rounds.request().out.address() + at;
    rounds.here().copy(mine, rounds.in_block(map.rank()) + at, bytes);
    rounds.combine_hosts(mine, count);
  });
}

}  // namespace baton::collectives
