// Choices that follow from a seed and nothing else.
#pragma once

#include <cstdint>

namespace baton::chip {

/// A sequence of choices. Small, so that every core can have its own: what one core chooses then does not depend on how
/// often others chose before.
class Chance {
 public:
  /// One of many sequences of the same seed; `rank` and `who` tell them apart.
  Chance(std::uint64_t seed, std::uint64_t rank, std::uint64_t who) noexcept
      : state_(mixed(mixed(mixed(seed) + rank) + who)) {}

  /// 0 to `count` - 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }
  [[nodiscard]] bool one_in(std::uint64_t count) noexcept { return below(count) == 0; }

 private:
  // The finalizer of splitmix64.
  static constexpr std::uint64_t mixed(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31U);
  }
  std::uint64_t next() noexcept { return mixed(state_ += 0x9e3779b97f4a7c15U); }

  std::uint64_t state_;
};

}  // namespace baton::chip
