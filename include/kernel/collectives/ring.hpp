// Ring: every share travels round the ranks twice, once to collect and once to be handed out.
//
//   0 ─> 1 ─> 2 ─> 3 ─> 0      rank r fetches share r-s from its left neighbour in step s
//   0 <─ 1 <─ 2 <─ 3 <─ 0      the second lane, if there is one, goes the other way with half of each share
//
// Allreduce: 2 (P-1) steps, 2 (P-1) N / P bytes for each rank, all with neighbours. A rank overwrites a share only
// after its neighbour has read it: the share has to pass every rank before it comes back.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

/// In the outputs of all ranks.
template <class Mover, int kLanes>
class Ring {
 public:
  AICORE Ring(Mover& mover, const Work& work) : mover_(mover), work_(work) {}

  AICORE void run() {
    const int size = mover_.size();
    const int last = 2 * (size - 1);
    mover_.copy(work_.output.mine, work_.input.mine, work_.bytes());
    advance(last == 0);
    for (int step = 1; step <= last; ++step) {
      for (int lane = 0; lane < kLanes; ++lane) {
        mover_.wait_step(source(lane), static_cast<std::uint64_t>(step));
        move(lane, step);
      }
      advance(step == last);
    }
    // Those who read from here must be through before the output is the caller's again.
    for (int lane = 0; lane < kLanes; ++lane) {
      mover_.wait_step(around(mover_, lane == 0 ? 1 : -1), static_cast<std::uint64_t>(last) + 1);
    }
  }

 private:
  /// Tells those who fetch from here, and at the end those who are fetched from.
  AICORE void advance(bool at_end) {
    mover_.step();
    mover_.tell(around(mover_, 1));
    if (kLanes == 2 || at_end) mover_.tell(around(mover_, -1));
  }
  /// Lane 0 comes from the left, lane 1 from the right.
  [[nodiscard]] AICORE int source(int lane) const { return around(mover_, lane == 0 ? -1 : 1); }

  /// Share `index`, or the half of it that belongs to `lane`.
  [[nodiscard]] AICORE Share share(int lane, int index) const {
    const Share whole = share_of(work_.count, work_.element_bytes, index, mover_.size());
    if (kLanes == 1) return whole;
    const Share half = share_of(whole.count, work_.element_bytes, lane, 2);
    return {whole.first + half.first, half.count};
  }

  AICORE void move(int lane, int step) {
    const int size = mover_.size();
    const int place = lane == 0 ? mover_.rank() : (size - mover_.rank()) % size;
    const Share moved = share(lane, around(place, -step, size));
    const std::size_t offset = moved.first * work_.element_bytes;
    std::byte* mine = work_.output.mine + offset;
    const std::byte* theirs = mover_.at(work_.output, source(lane)) + offset;
    if (step >= size) return mover_.copy(mine, theirs, moved.count * work_.element_bytes);
    combine_two(mover_, work_, mine, theirs, mine, moved.count, step == size - 1 ? divisor_of(work_, mover_) : 1);
  }

  Mover& mover_;
  const Work& work_;
};

template <class Mover>
AICORE void allreduce_ring(Mover& mover, const Work& work) {
  Ring<Mover, 1>(mover, work).run();
}
template <class Mover>
AICORE void allreduce_bidirectional_ring(Mover& mover, const Work& work) {
  Ring<Mover, 2>(mover, work).run();
}

/// P - 1 steps, (P-1) n bytes for each rank. In the outputs of all ranks.
template <class Mover>
AICORE void allgather_ring(Mover& mover, const Work& work) {
  const int left = around(mover, -1);
  const int right = around(mover, 1);
  mover.copy(block_at(work.output.mine, mover.rank(), work.output_stride), work.input.mine, work.bytes());
  mover.step();
  mover.tell(right);
  for (int step = 1; step < mover.size(); ++step) {
    const int origin = around(mover, -step);
    mover.wait_step(left, static_cast<std::uint64_t>(step));
    mover.copy(block_at(work.output.mine, origin, work.output_stride),
               block_at(mover.at(work.output, left), origin, work.output_stride), work.bytes());
    mover.step();
    mover.tell(right);
  }
  mover.tell(left);
  mover.wait_step(right, static_cast<std::uint64_t>(mover.size()));
}

/// b, P - 1 steps, (P-1) n bytes reduced by each rank. The inputs of all ranks become partial results.
template <class Mover>
AICORE void reduce_scatter_ring(Mover& mover, const Work& work) {
  const int left = around(mover, -1);
  const int right = around(mover, 1);
  const int last = mover.size() - 1;
  mover.meet();
  for (int step = 1; step <= last; ++step) {
    const int block = around(mover, -step - 1);
    std::byte* mine = block_at(work.input.mine, block, work.input_stride);
    if (step > 1) mover.wait_step(left, static_cast<std::uint64_t>(step) - 1);
    combine_two(mover, work, step == last ? work.output.mine : mine,
                block_at(mover.at(work.input, left), block, work.input_stride), mine, work.count,
                step == last ? divisor_of(work, mover) : 1);
    mover.step();
    mover.tell(right);
  }
  if (last == 0) mover.copy(work.output.mine, work.input.mine, work.bytes());
  if (work.input_life == InputLife::until_next_meeting) return;
  mover.tell(left);
  mover.wait_step(right, static_cast<std::uint64_t>(last));
}

}  // namespace baton::collectives
