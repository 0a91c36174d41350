// The sum of all ranks, for every rank: y = sum of all x.
#include "../common/collective.hpp"
#include "rings.hpp"

using collective::Member;
using collective::Shares;

/// Everybody shows what it has; everybody adds up what all show, in the order of the ranks.
AICORE inline void onephase(const float* x, float* y, int64_t count, const Member& me, int32_t round) {
  me.need(count, 1);
  collective::copy(me.mine(), x, count);
  me.meet(0, 2 * round - 1);
  collective::copy(y, me.theirs(0), count);
  for (int peer = 1; peer < me.ranks(); ++peer) collective::add(y, me.theirs(peer), count);
  me.meet(0, 2 * round);  // nobody shows the next round before all have read this one
}

/// Everybody adds up its share of what all show, then fetches the shares of the others.
AICORE inline void twophase(const float* x, float* y, int64_t count, const Member& me, int32_t round) {
  me.need(count, 1);
  const Shares shares{count, me.ranks()};
  const int64_t first = shares.first(me.rank());
  collective::copy(me.mine(), x, count);
  me.meet(0, 3 * round - 2);
  for (int step = 1; step < me.ranks(); ++step) {
    collective::add(me.mine(first), me.theirs(me.neighbour(step), first), shares.size(me.rank()));
  }
  me.meet(0, 3 * round - 1);
  for (int peer = 0; peer < me.ranks(); ++peer) {
    collective::copy(y + shares.first(peer), me.theirs(peer, shares.first(peer)), shares.size(peer));
  }
  me.meet(0, 3 * round);
}

/// In the order of MODES in main.py.
enum class Mode : int32_t { onephase, twophase, ring, bidirectional_ring, ibing };

AICORE inline void reduce(Mode mode, const float* x, float* y, int64_t count, const Member& me, int32_t round) {
  switch (mode) {
    case Mode::onephase: return onephase(x, y, count, me, round);
    case Mode::twophase: return twophase(x, y, count, me, round);
    case Mode::ring: return ring(x, y, count, me, round);
    case Mode::bidirectional_ring: return bidirectional_ring(x, y, count, me, round);
    case Mode::ibing: return ibing(x, y, count, me, round);
  }
}

/// The kernel gets its part of the window, its signals, and the round, from 1 on.
BATON_KERNEL(allreduce, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             const CommContext* context, int32_t mode, int32_t round) {
  reduce(static_cast<Mode>(mode), x.data(), y.data(), x.size(), {context, window, signals}, round);
}

/// The same in a graph that runs many times: a task counts the rounds, since scalars stay as they were captured.
BATON_KERNEL(allreduce_counted, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
             In<int32_t> round, const CommContext* context, int32_t mode) {
  reduce(static_cast<Mode>(mode), x.data(), y.data(), x.size(), {context, window, signals}, round.data()[0]);
}

BATON_KERNEL(next_round, InOut<int32_t> round) { round.data()[0] += 1; }
