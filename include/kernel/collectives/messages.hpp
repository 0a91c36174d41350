// Messages: a sender shows a piece in its room, the receiver fetches it and says so.
//
//   sender    stage ─> post ·················· taken ─> next piece
//   receiver           posted ─> copy ─> take
//
// Two hand-offs for each piece that fits into the room, n bytes copied on either side. The room is free again when
// send() returns: messages and collectives follow each other in one room.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/staging.hpp>

namespace baton::collectives {

template <class Member>
AICORE void check_partner(const Member& me, int partner) {
  if (partner < me.size() && partner != me.rank()) return;
  me.fail("a message between rank ", me.rank(), " and rank ", partner, " of ", me.size());
}

/// x goes to `to`, y comes from `from`: both at once, so that ranks that send to each other do not wait for ever.
template <class Member>
AICORE void run_messages(Member& me, const Work& call, Partners partners, const std::byte* x, std::byte* y) {
  check_partner(me, partners.to);
  check_partner(me, partners.from);
  const std::size_t piece = piece_of(me, call, 1);
  me.announce(partners, called_of(Operation::barrier, call, Algorithm::automatic));
  std::size_t first = 0;
  // Nothing is a piece, too: the receiver learns that it was sent.
  do {
    const std::size_t left = call.count - first;
    const std::size_t bytes = (left < piece ? left : piece) * call.element_bytes;
    const std::size_t skipped = first * call.element_bytes;
    if (partners.to >= 0) {
      me.copy(me.room(), x + skipped, bytes);
      me.post(partners.to);
    }
    if (partners.from >= 0) {
      me.wait_posted(partners.from);
      me.copy(y + skipped, me.at(me.room(), partners.from), bytes);
      me.take(partners.from);
    }
    if (partners.to >= 0) me.wait_taken(partners.to);
    first += piece;
  } while (first < call.count);
}

}  // namespace baton::collectives
