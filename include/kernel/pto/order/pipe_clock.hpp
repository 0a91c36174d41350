// Vector clocks of the pipes of a core: what is ordered before what. For simulated cores and for those of a GPU.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <pto/target/compiler.hpp>

namespace baton::kernel {

/// Pipes are numbered as pipe_t.
inline constexpr uint32_t kPipes = 8;
inline constexpr uint32_t kScalarPipe = 0;
inline constexpr uint32_t kAllPipes = 6;

/// For each pipe, the number of its last instruction that is ordered before whatever this clock belongs to.
class PipeClock {
 public:
  [[nodiscard]] PTO_ANYWHERE uint64_t operator[](uint32_t pipe) const noexcept { return times_[pipe]; }

  PTO_ANYWHERE void join(const PipeClock& other) noexcept {
    for (size_t pipe = 0; pipe < kPipes; ++pipe) {
      if (times_[pipe] < other.times_[pipe]) times_[pipe] = other.times_[pipe];
    }
  }

  /// The number of the next instruction of `pipe`.
  PTO_ANYWHERE uint64_t advance(uint32_t pipe) noexcept { return ++times_[pipe]; }

 private:
  uint64_t times_[kPipes] = {};
};

}  // namespace baton::kernel
