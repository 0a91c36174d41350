// Bytes that say who sent them, in which round and to which place, so that a wrong one is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace bench {

/// How many rounds with changing bytes follow a timed loop.
constexpr int kCheckedRounds = 4;

[[nodiscard]] inline std::byte pattern_byte(int rank, int round, std::size_t place) {
  const std::uint64_t mixed =
      (place + 1) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(rank * 31 + round) * 0x2545F491u;
  return static_cast<std::byte>(mixed >> 40);
}

inline void fill_pattern(std::span<std::byte> buffer, int rank, int round) {
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = pattern_byte(rank, round, i);
}

inline void check_pattern(std::span<const std::byte> buffer, int rank, int round) {
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    if (buffer[i] == pattern_byte(rank, round, i)) continue;
    throw std::runtime_error("byte " + std::to_string(i) + " of " + std::to_string(buffer.size()) + " from rank " +
                             std::to_string(rank) + " is wrong in round " + std::to_string(round));
  }
}

}  // namespace bench
