// Ring: every share travels round the ranks twice, once to collect and once to be handed out.
//
//   0 ─> 1 ─> 2 ─> 3 ─> 0      rank r fetches share r-s from its left neighbour in step s
//   0 <─ 1 <─ 2 <─ 3 <─ 0      the second lane, if there is one, goes the other way with half of each share
//
// Allreduce: 2 (P-1) steps, 2 (P-1) N / P bytes for each rank, all with neighbours. A rank overwrites a share only
// after its neighbour has read it: the share has to pass every rank before it comes back.
#include "collectives/algorithms/algorithms.hpp"

namespace baton::collectives {
namespace {

/// Whether the two lanes of a rank take each step together or one after the other.
enum class Pace : std::uint8_t { together, own };

class Ring {
 public:
  Ring(Mover& mover, const Work& work, int lanes, Pace pace)
      : mover_(mover), work_(work), lanes_(lanes), pace_(pace), element_bytes_(size_of(work.element)) {}

  void run() {
    mover_.copy(work_.output.mine, work_.input.mine, work_.bytes());
    advance();
    const int last = 2 * (mover_.size() - 1);
    for (int step = 1; step <= last; ++step) {
      for (int lane = 0; lane < lanes_; ++lane) {
        mover_.wait_step(source(lane), steps_before(lane, step));
        move(lane, step);
        if (pace_ == Pace::own) advance();
      }
      if (pace_ == Pace::together) advance();
    }
    // Whoever reads from here must be through before the output is the caller's again.
    mover_.wait_step(around(mover_, 1), steps_);
    if (lanes_ == 2) mover_.wait_step(around(mover_, -1), steps_);
  }

 private:
  void advance() {
    mover_.step();
    ++steps_;
  }
  /// Lane 0 comes from the left, lane 1 from the right.
  [[nodiscard]] int source(int lane) const { return around(mover_, lane == 0 ? -1 : 1); }

  /// How many steps the source must have made: its own part of the step before.
  [[nodiscard]] std::uint64_t steps_before(int lane, int step) const {
    const auto before = static_cast<std::uint64_t>(step) - 1;
    if (pace_ == Pace::together) return before + 1;
    return before == 0 ? 1 : 2 * before + static_cast<std::uint64_t>(lane);
  }

  /// Share `index`, or the half of it that belongs to `lane`.
  [[nodiscard]] Share share(int lane, int index) const {
    const Share whole = share_of(work_.count, element_bytes_, index, mover_.size());
    if (lanes_ == 1) return whole;
    const Share half = share_of(whole.count, element_bytes_, lane, 2);
    return {whole.first + half.first, half.count};
  }

  void move(int lane, int step) {
    const int size = mover_.size();
    const int place = lane == 0 ? mover_.rank() : (size - mover_.rank()) % size;
    const Share moved = share(lane, ((place - step) % size + size) % size);
    const std::size_t offset = moved.first * element_bytes_;
    std::byte* mine = work_.output.mine + offset;
    const std::byte* theirs = work_.output.of(source(lane)) + offset;
    if (step >= size) return mover_.copy(mine, theirs, moved.count * element_bytes_);
    const std::byte* const both[] = {theirs, mine};
    const std::uint32_t divisor = step == size - 1 ? divisor_of(work_, mover_) : 1;
    mover_.reduce(mine, both, moved.count, work_.element, work_.op, divisor);
  }

  Mover& mover_;
  const Work& work_;
  int lanes_;
  Pace pace_;
  std::size_t element_bytes_;
  std::uint64_t steps_ = 0;
};

}  // namespace

void allreduce_ring(Mover& mover, const Work& work) { Ring(mover, work, 1, Pace::together).run(); }
void allreduce_bidirectional_ring(Mover& mover, const Work& work) { Ring(mover, work, 2, Pace::together).run(); }
void allreduce_interleaved_ring(Mover& mover, const Work& work) { Ring(mover, work, 2, Pace::own).run(); }

/// P - 1 steps, (P-1) n bytes for each rank.
void allgather_ring(Mover& mover, const Work& work) {
  const auto block = [&](std::byte* base, int rank) {
    return base + static_cast<std::size_t>(rank) * work.output_stride;
  };
  mover.copy(block(work.output.mine, mover.rank()), work.input.mine, work.bytes());
  mover.step();
  const int left = around(mover, -1);
  for (int step = 1; step < mover.size(); ++step) {
    const int origin = around(mover, -step);
    mover.wait_step(left, static_cast<std::uint64_t>(step));
    mover.copy(block(work.output.mine, origin), block(work.output.of(left), origin), work.bytes());
    mover.step();
  }
  mover.wait_step(around(mover, 1), static_cast<std::uint64_t>(mover.size()));
}

}  // namespace baton::collectives
