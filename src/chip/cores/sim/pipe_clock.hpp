// Vector clocks of the pipes of a core: what is ordered before what.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace baton::chip {

/// Pipes are numbered as pipe_t.
inline constexpr std::size_t kPipes = 8;
inline constexpr std::uint32_t kScalarPipe = 0;
inline constexpr std::uint32_t kAllPipes = 6;

/// For each pipe, the number of its last instruction that is ordered before whatever this clock belongs to.
class PipeClock {
 public:
  [[nodiscard]] std::uint64_t operator[](std::uint32_t pipe) const noexcept { return times_[pipe]; }

  void join(const PipeClock& other) noexcept {
    for (std::size_t pipe = 0; pipe < kPipes; ++pipe) times_[pipe] = std::max(times_[pipe], other.times_[pipe]);
  }

  /// The number of the next instruction of `pipe`.
  std::uint64_t advance(std::uint32_t pipe) noexcept { return ++times_[pipe]; }

 private:
  std::array<std::uint64_t, kPipes> times_{};
};

}  // namespace baton::chip
