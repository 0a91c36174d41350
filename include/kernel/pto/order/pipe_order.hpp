// What flags and barriers of a kernel promise: which work of the pipes is over before which. For simulated cores and
// for those of a GPU, which keep what was touched each in their own way.
//
// Instructions of one pipe are in order. Those of two pipes are ordered only through flags, barriers, and whatever the
// scalar pipe waited for before it issued the later one.
#pragma once

#include <pto/order/pipe_clock.hpp>

namespace baton::kernel {

inline constexpr uint32_t kFlagIds = 8;

/// The lowest of some pipes, which are bits.
constexpr PTO_ANYWHERE uint32_t first_pipe(uint32_t pipes) {
  uint32_t pipe = 0;
  while ((pipes >> pipe & 1) == 0) ++pipe;
  return pipe;
}
/// The highest of them.
constexpr PTO_ANYWHERE uint32_t last_pipe(uint32_t pipes) {
  uint32_t pipe = 0;
  while (pipes >> pipe > 1) ++pipe;
  return pipe;
}

/// One kernel of one core at a time.
class PipeOrder {
 public:
  /// Work of `pipes` (bits) begins. What is ordered before it, itself included: its time is that of its first pipe.
  PTO_ANYWHERE PipeClock issue(uint32_t pipes) {
    PipeClock now = waited_;
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe) {
      if ((pipes >> pipe & 1) != 0) now.join(clocks_[pipe]);
    }
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe) {
      if ((pipes >> pipe & 1) != 0) now.advance(pipe);
    }
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe) {
      if ((pipes >> pipe & 1) != 0) clocks_[pipe] = now;
    }
    return now;
  }

  PTO_ANYWHERE void set_flag(uint32_t producer, uint32_t consumer, int32_t id) {
    flags_[flag_of(producer, consumer, id)] = clocks_[producer];
    set_[producer] |= bit_of(consumer, id);
  }
  /// Nothing if nobody has set it.
  PTO_ANYWHERE void wait_flag(uint32_t producer, uint32_t consumer, int32_t id) {
    if (!is_set(producer, consumer, id)) return;
    set_[producer] &= ~bit_of(consumer, id);
    const PipeClock& flag = flags_[flag_of(producer, consumer, id)];
    clocks_[consumer].join(flag);
    if (consumer == kScalarPipe) waited_.join(flag);
  }
  [[nodiscard]] PTO_ANYWHERE bool is_set(uint32_t producer, uint32_t consumer, int32_t id) const {
    return (set_[producer] & bit_of(consumer, id)) != 0;
  }
  /// Of `producer`: bit 8 * consumer + id.
  [[nodiscard]] PTO_ANYWHERE uint64_t flags_set(uint32_t producer) const { return set_[producer]; }
  static constexpr PTO_ANYWHERE uint32_t flag_of(uint32_t producer, uint32_t consumer, int32_t id) {
    return (producer * kPipes + consumer) * kFlagIds + static_cast<uint32_t>(id);
  }

  /// pipe_barrier(PIPE_ALL): all that happened is before all that will.
  PTO_ANYWHERE void barrier() {
    PipeClock all;
    for (const PipeClock& clock : clocks_) all.join(clock);
    for (PipeClock& clock : clocks_) clock = all;
    waited_ = all;
  }

  /// What is ordered before the next work of `pipe`, but for what the scalar pipe waited for.
  [[nodiscard]] PTO_ANYWHERE const PipeClock& clock(uint32_t pipe) const { return clocks_[pipe]; }
  /// Whether work number `time` of `pipe` is before all that comes, on any of `pipes`.
  [[nodiscard]] PTO_ANYWHERE bool is_over(uint32_t pipe, uint64_t time, uint32_t pipes) const {
    if (waited_[pipe] >= time) return true;
    for (uint32_t other = 0; other < kPipes; ++other) {
      if ((pipes >> other & 1) != 0 && clocks_[other][pipe] < time) return false;
    }
    return true;
  }

  PTO_ANYWHERE void clear() {
    for (PipeClock& clock : clocks_) clock = PipeClock{};
    waited_ = PipeClock{};
    for (uint64_t& set : set_) set = 0;
  }

 private:
  static constexpr PTO_ANYWHERE uint64_t bit_of(uint32_t consumer, int32_t id) {
    return uint64_t{1} << (consumer * kFlagIds + static_cast<uint32_t>(id));
  }

  PipeClock clocks_[kPipes];
  /// What the scalar pipe waited for, hence is over before anything is issued. Its own accesses are not among it.
  PipeClock waited_;
  uint64_t set_[kPipes] = {};
  PipeClock flags_[kPipes * kPipes * kFlagIds];  // of those that are set
};

/// The pipes of a core: bits.
inline constexpr uint32_t kVectorPipes = 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4;  // S, V, MTE2, MTE3
inline constexpr uint32_t kCubePipes =
    1u << 0 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 7;  // S, MTE1 to 3, M, FIX

}  // namespace baton::kernel
