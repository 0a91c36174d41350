// Allreduce round a ring of ranks: neighbours alone talk to each other.
//
// There is no meeting at the end. Before a rank fills an inbox again it has gone through a whole round, and what it
// received last depends, from neighbour to neighbour, on the owner of that inbox having read it.
#pragma once

#include "../common/collective.hpp"

/// One direction of a ring, for a part of y that is cut into shares. Every step has an inbox and a signal of its own,
/// so that a rank need not ask whether its neighbour is ready.
struct Lane {
  const collective::Member& me;
  int direction;  // 1: to the next rank; -1: to the previous one
  float* y;
  collective::Shares shares;
  int64_t inboxes;  // where they begin in the window
  int signals;      // the first one
  int32_t round;

  AICORE int64_t inbox(int step) const { return inboxes + step * shares.most(); }
  /// Shares are numbered like ranks, and counted against the direction: share(1) is that of the rank before.
  AICORE int share(int distance) const { return me.neighbour(-direction * distance); }

  AICORE void send(int step, int share) const {
    const int peer = me.neighbour(direction);
    collective::put(me.theirs(peer, inbox(step)), y + shares.first(share), shares.size(share));
    me.count(peer, signals + step);
  }
  AICORE void receive_and_add(int step, int share) const {
    me.wait(signals + step, round);
    collective::add(y + shares.first(share), me.mine(inbox(step)), shares.size(share));
  }
  AICORE void receive(int step, int share) const {
    me.wait(signals + step, round);
    collective::copy(y + shares.first(share), me.mine(inbox(step)), shares.size(share));
  }

  /// Step s of a whole ring: P-1 steps that add, then P-1 that hand the sums out.
  AICORE void send_in_ring(int step) const { send(step, share(step)); }
  AICORE void receive_in_ring(int step) const {
    if (step < me.ranks() - 1) {
      receive_and_add(step, share(step + 1));
    } else {
      receive(step, share(step + 1));
    }
  }
};

/// All shares go the same way round: 2 (P-1) steps of N/P elements.
AICORE inline void ring(const float* x, float* y, int64_t count, const collective::Member& me, int32_t round) {
  const int steps = 2 * (me.ranks() - 1);
  const Lane lane{me, 1, y, {count, me.ranks()}, 0, 0, round};
  me.need(lane.inbox(steps), steps);
  collective::copy(y, x, count);
  for (int step = 0; step < steps; ++step) {
    lane.send_in_ring(step);
    lane.receive_in_ring(step);
  }
}

/// Half of the elements goes each way: 2 (P-1) steps of N/2P elements in both directions at once.
AICORE inline void bidirectional_ring(const float* x, float* y, int64_t count, const collective::Member& me,
                                      int32_t round) {
  const int steps = 2 * (me.ranks() - 1);
  const int64_t half = (count + 1) / 2;
  const Lane right{me, 1, y, {half, me.ranks()}, 0, 0, round};
  const Lane left{me, -1, y + half, {count - half, me.ranks()}, right.inbox(steps), steps, round};
  me.need(left.inbox(steps), 2 * steps);
  collective::copy(y, x, count);
  for (int step = 0; step < steps; ++step) {
    right.send_in_ring(step);
    left.send_in_ring(step);
    right.receive_in_ring(step);
    left.receive_in_ring(step);
  }
}

/// Interleaved: each share is added up from both sides at once and meets itself at its own rank, then is handed out to
/// both sides. P steps (P-1 for odd P) of N/P elements in both directions: half as many as a ring.
/// To the right a share passes P/2 ranks on its way home, to the left the remaining (P-1)/2.
AICORE inline void ibing(const float* x, float* y, int64_t count, const collective::Member& me, int32_t round) {
  const int to_right = me.ranks() / 2;
  const int to_left = (me.ranks() - 1) / 2;
  const collective::Shares shares{count, me.ranks()};
  const Lane right{me, 1, y, shares, 0, 0, round};
  const Lane left{me, -1, y, shares, right.inbox(2 * to_right), 2 * to_right, round};
  me.need(left.inbox(2 * to_left), 2 * (to_right + to_left));
  collective::copy(y, x, count);
  // to_left is to_right or one less. What a rank received in one step it sends on in the next, with its own part added.
  for (int step = 0; step < to_right; ++step) {
    right.send(step, right.share(step - to_right));
    if (step < to_left) left.send(step, left.share(step - to_left));
    right.receive_and_add(step, right.share(step + 1 - to_right));
    if (step < to_left) left.receive_and_add(step, left.share(step + 1 - to_left));
  }
  for (int step = 0; step < to_right; ++step) {
    right.send(to_right + step, right.share(step));
    if (step < to_left) left.send(to_left + step, left.share(step));
    right.receive(to_right + step, right.share(step + 1));
    if (step < to_left) left.receive(to_left + step, left.share(step + 1));
  }
}
