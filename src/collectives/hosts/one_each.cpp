// Blocks where every host has one member: nothing is staged, they go from where they lie to where they belong. In the
// cost lines n is the size of a block.
#include <functional>
#include <span>

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

/// The bytes from the first block of other ranks to the last one, of those that `has` tells.
template <class Has, class At>
std::span<const std::byte> extent_of(Rounds& rounds, const Has& has, const At& at) {
  const std::byte* first = nullptr;
  const std::byte* end = nullptr;
  const std::size_t block = rounds.call().count * rounds.element_bytes();
  rounds.for_each_other_host([&](int host) {
    const int rank = rounds.map().ranks(host).front();
    if (!has(rank)) return;
    const std::byte* const here = at(rank);
    if (first == nullptr || std::less<>()(here, first)) first = here;
    if (end == nullptr || std::less<>()(end, here + block)) end = here + block;
  });
  return {first, end};
}

/// This rank has a block for those that `gives` tells, at `from(rank)`, and gets one from those that `takes` tells, to
/// `to(rank)`.
template <class Gives, class From, class Takes, class To>
void pass(Rounds& rounds, const Gives& gives, const From& from, const Takes& takes, const To& to) {
  const HostMap& map = rounds.map();
  const int self = map.rank();
  const bool apart = !overlap(extent_of(rounds, gives, from), extent_of(rounds, takes, to));
  in_rounds(rounds, [&](std::size_t at, std::size_t /*count*/, std::size_t bytes) {
    const auto for_each_giver = [&](const auto& body) {
      rounds.for_each_other_host([&](int host) {
        const int rank = map.ranks(host).front();
        if (takes(rank)) body(host, to(rank) + at);
      });
    };
    if (apart) for_each_giver([&](int host, std::byte* there) { rounds.expect(host, there, bytes); });
    rounds.for_each_other_host([&](int host) {
      const int rank = map.ranks(host).front();
      if (gives(rank)) rounds.send(host, from(rank) + at, bytes);
    });
    // What comes may belong where something lies that is sent.
    if (!apart) rounds.link().settle();
    if (gives(self) && takes(self)) rounds.here().copy(to(self) + at, from(self) + at, bytes);
    for_each_giver([&](int host, std::byte* there) { rounds.receive_to(host, there, bytes); });
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
        [&](int host) { rounds.send(host, rounds.in_block(map.ranks(host).front()) + at, bytes); });
    // The result may belong where something lies that is sent.
    rounds.link().settle();
    std::byte* mine = rounds.request().out.address() + at;
    rounds.here().copy(mine, rounds.in_block(map.rank()) + at, bytes);
    rounds.combine_hosts(mine, count);
  });
}

}  // namespace baton::collectives
