// Recursive halving and doubling: with the partner at half of the ranks, each keeps one half of the vector; then with
// the one at a quarter, a quarter; until each has a share, and back the same way.
//
//   0 1 2 3 4 5 6 7     partner in step 1: rank ^ 4, in step 2: rank ^ 2, in step 3: rank ^ 1
//
// Allreduce: 2 log2 P steps, 2 (P-1) N / P bytes for each rank. Ranks beyond a power of two hand their vector to a
// partner first and fetch the result at the end: N bytes more.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>

namespace baton::collectives {

/// In the outputs of all ranks.
template <class Mover>
class RecursiveHalving {
 public:
  AICORE RecursiveHalving(Mover& mover, const Work& work) : mover_(mover), work_(work) {
    while (core_ * 2 <= mover.size()) {
      core_ *= 2;
      ++depth_;
    }
  }

  AICORE void run() {
    mover_.copy(work_.output.mine, work_.input.mine, work_.bytes());
    if (mover_.rank() < core_) {
      mover_.step();
      take_in_extra();
      halve();
      double_back();
    } else {
      const int partner = mover_.rank() - core_;
      mover_.step();
      mover_.tell(partner);
      mover_.wait_step(partner, 2 + 2 * static_cast<std::uint64_t>(depth_));
      mover_.copy(work_.output.mine, mover_.at(work_.output, partner), work_.bytes());
    }
    mover_.meet();
  }

 private:
  /// The partner of the halving at `level`.
  [[nodiscard]] AICORE int partner_at(int level) const { return mover_.rank() ^ (core_ >> (level + 1)); }
  [[nodiscard]] AICORE int extra() const { return mover_.rank() + core_; }

  /// Says to the partner of the halving at `level` that this rank has made a step.
  AICORE void advance_for(int level) {
    mover_.step();
    if (level < depth_) mover_.tell(partner_at(level));
  }

  AICORE void take_in_extra() {
    if (extra() < mover_.size()) {
      mover_.wait_step(extra(), 1);
      combine_with(extra(), {0, work_.count}, 1);
    }
    advance_for(0);
  }

  AICORE void halve() {
    ranges_[0] = {0, work_.count};
    for (int level = 0; level < depth_; ++level) {
      const int partner = partner_at(level);
      const Share whole = ranges_[level];
      const Share half = share_of(whole.count, work_.element_bytes, mover_.rank() < partner ? 0 : 1, 2);
      const Share kept{whole.first + half.first, half.count};
      mover_.wait_step(partner, 2 + static_cast<std::uint64_t>(level));
      combine_with(partner, kept, level == depth_ - 1 ? divisor_of(work_, mover_) : 1);
      // The last one is also the first of the way back.
      advance_for(level == depth_ - 1 ? level : level + 1);
      ranges_[level + 1] = kept;
    }
  }

  AICORE void double_back() {
    for (int level = depth_ - 1; level >= 0; --level) {
      const int partner = partner_at(level);
      const Share whole = ranges_[level];
      const Share kept = ranges_[level + 1];
      const std::size_t other = mover_.rank() < partner ? whole.first + kept.count : whole.first;
      const std::size_t offset = other * work_.element_bytes;
      mover_.wait_step(partner, 1 + static_cast<std::uint64_t>(2 * depth_ - level));
      mover_.copy(work_.output.mine + offset, mover_.at(work_.output, partner) + offset,
                  (whole.count - kept.count) * work_.element_bytes);
      mover_.step();
      if (level > 0) mover_.tell(partner_at(level - 1));
    }
    if (extra() < mover_.size()) mover_.tell(extra());
  }

  AICORE void combine_with(int partner, Share share, std::uint32_t divisor) {
    const std::size_t offset = share.first * work_.element_bytes;
    std::byte* mine = work_.output.mine + offset;
    combine_two(mover_, work_, mine, mine, mover_.at(work_.output, partner) + offset, share.count, divisor);
  }

  static constexpr int kMostLevels = 32;
  Mover& mover_;
  const Work& work_;
  int core_ = 1;                    // the largest power of two of ranks
  int depth_ = 0;                   // its logarithm
  Share ranges_[kMostLevels] = {};  // of this rank, before each halving
};

template <class Mover>
AICORE void allreduce_recursive_halving(Mover& mover, const Work& work) {
  RecursiveHalving<Mover>(mover, work).run();
}

}  // namespace baton::collectives
