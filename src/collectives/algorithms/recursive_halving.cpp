// Recursive halving and doubling: with the partner at half of the ranks, each keeps one half of the vector; then with
// the one at a quarter, a quarter; until each has a share, and back the same way.
//
//   0 1 2 3 4 5 6 7     partner in step 1: rank ^ 4, in step 2: rank ^ 2, in step 3: rank ^ 1
//
// Allreduce: 2 log2 P steps, 2 (P-1) N / P bytes for each rank. Ranks beyond a power of two hand their vector to a
// partner first and fetch the result at the end: N bytes more.
#include <bit>

#include "collectives/algorithms/algorithms.hpp"

namespace baton::collectives {
namespace {

/// The range of this rank before each halving.
constexpr int kMostLevels = 32;

class Halving {
 public:
  Halving(Mover& mover, const Work& work)
      : mover_(mover),
        work_(work),
        bytes_(size_of(work.element)),
        core_(static_cast<int>(std::bit_floor(static_cast<unsigned>(mover.size())))) {}

  void run() {
    mover_.copy(work_.output.mine, work_.input.mine, work_.bytes());
    mover_.step();
    if (mover_.rank() < core_) {
      take_in_extra();
      halve();
      double_back();
    } else {
      const int partner = mover_.rank() - core_;
      mover_.wait_step(partner, 2 + 2 * static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(core_))));
      mover_.copy(work_.output.mine, work_.output.of(partner), work_.bytes());
    }
    meet(mover_);
  }

 private:
  void take_in_extra() {
    const int extra = mover_.rank() + core_;
    if (extra < mover_.size()) {
      mover_.wait_step(extra, 1);
      reduce_with(extra, {0, work_.count}, 1);
    }
    mover_.step();
  }

  void halve() {
    ranges_[0] = {0, work_.count};
    for (int distance = core_ / 2; distance > 0; distance /= 2) {
      const int partner = mover_.rank() ^ distance;
      const Share whole = ranges_[levels_];
      const Share half = share_of(whole.count, bytes_, (mover_.rank() & distance) == 0 ? 0 : 1, 2);
      const Share kept{whole.first + half.first, half.count};
      mover_.wait_step(partner, 2 + static_cast<std::uint64_t>(levels_));
      reduce_with(partner, kept, distance == 1 ? divisor_of(work_, mover_) : 1);
      mover_.step();
      ranges_[++levels_] = kept;
    }
  }

  void double_back() {
    for (int level = levels_ - 1; level >= 0; --level) {
      const int partner = mover_.rank() ^ (core_ >> (level + 1));
      const Share whole = ranges_[level];
      const Share kept = ranges_[level + 1];
      const bool lower = kept.first == whole.first && (mover_.rank() & (core_ >> (level + 1))) == 0;
      const Share other = lower ? Share{whole.first + kept.count, whole.count - kept.count}
                                : Share{whole.first, whole.count - kept.count};
      mover_.wait_step(partner, 2 + static_cast<std::uint64_t>(2 * levels_ - level - 1));
      mover_.copy(work_.output.mine + other.first * bytes_, work_.output.of(partner) + other.first * bytes_,
                  other.count * bytes_);
      mover_.step();
    }
  }

  void reduce_with(int partner, Share share, std::uint32_t divisor) {
    const std::size_t offset = share.first * bytes_;
    std::byte* mine = work_.output.mine + offset;
    const std::byte* const both[] = {mine, work_.output.of(partner) + offset};
    mover_.reduce(mine, both, share.count, work_.element, work_.op, divisor);
  }

  Mover& mover_;
  const Work& work_;
  std::size_t bytes_;
  int core_;  // the largest power of two of ranks
  int levels_ = 0;
  Share ranges_[kMostLevels] = {};
};

}  // namespace

void allreduce_recursive_halving(Mover& mover, const Work& work) { Halving(mover, work).run(); }

}  // namespace baton::collectives
