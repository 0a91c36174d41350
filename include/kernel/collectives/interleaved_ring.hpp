// Interleaved ring: every share is collected from both sides at once, meets itself at its own rank, and goes back to
// both sides.
//
//   h-2 ─> h-1 ─> h <─ h+1      share h: P/2 ranks come from the left, the other (P-1)/2 from the right
//   h-2 <─ h-1 <─ h ─> h+1      and back the same ways
//
// Allreduce: P steps (P-1 for odd P) of N / P bytes from each side: half as many as a ring. A rank is on the way of
// every other share exactly once; who fetches its partial result hands the sum back to it, so that it is read in time.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

/// In the outputs of all ranks.
template <class Mover>
class InterleavedRing {
 public:
  AICORE InterleavedRing(Mover& mover, const Work& work) : mover_(mover), work_(work) {}

  AICORE void run() {
    const int from_left = mover_.size() / 2;
    const int from_right = (mover_.size() - 1) / 2;
    mover_.copy(work_.output.mine, work_.input.mine, work_.bytes());
    advance();
    for (int step = 1; step <= from_left; ++step) {
      if (step <= from_right) collect(1, step, step - from_right, 1);
      // The share of this rank is complete with the last that comes from the left.
      collect(-1, step, from_left - step, step == from_left ? divisor_of(work_, mover_) : 1);
      advance();
    }
    for (int step = 1; step <= from_left; ++step) {
      hand_out(1, from_left + step, step);
      if (step <= from_right) hand_out(-1, from_left + step, -step);
      advance();
    }
    // Those who read from here must be through before the output is the caller's again.
    const auto last = static_cast<std::uint64_t>(2 * from_left + 1);
    if (from_right == from_left) mover_.wait_step(around(mover_, 1), last);  // else it has not read in the last step
    mover_.wait_step(around(mover_, -1), last);
  }

 private:
  AICORE void advance() {
    mover_.step();
    mover_.tell(around(mover_, 1));
    mover_.tell(around(mover_, -1));
  }

  /// Adds what the neighbour on `side` has of the share of the rank at `distance`, once it has made `steps`.
  AICORE void collect(int side, int steps, int distance, std::uint32_t divisor) {
    const Share share = of_rank(distance);
    const std::byte* theirs = wait_for(side, steps, share);
    std::byte* mine = work_.output.mine + share.first * work_.element_bytes;
    // By rank: the one on the left comes first.
    const bool left_first = side < 0;
    combine_two(mover_, work_, mine, left_first ? theirs : mine, left_first ? mine : theirs, share.count, divisor);
  }

  AICORE void hand_out(int side, int steps, int distance) {
    const Share share = of_rank(distance);
    const std::byte* theirs = wait_for(side, steps, share);
    mover_.copy(work_.output.mine + share.first * work_.element_bytes, theirs, share.count * work_.element_bytes);
  }

  [[nodiscard]] AICORE Share of_rank(int distance) const {
    return share_of(work_.count, work_.element_bytes, around(mover_, distance), mover_.size());
  }
  AICORE const std::byte* wait_for(int side, int steps, Share share) {
    const int peer = around(mover_, side);
    mover_.wait_step(peer, static_cast<std::uint64_t>(steps));
    return mover_.at(work_.output, peer) + share.first * work_.element_bytes;
  }

  Mover& mover_;
  const Work& work_;
};

template <class Mover>
AICORE void allreduce_interleaved_ring(Mover& mover, const Work& work) {
  InterleavedRing<Mover>(mover, work).run();
}

}  // namespace baton::collectives
