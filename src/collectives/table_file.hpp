// The file in which `baton tune` writes down which algorithms are fastest on a machine.
//
//   # operation  ranks  place    bytes   algorithm
//   allreduce    2      windows  8192    exchange
//   allreduce    any    windows  any     mesh
//
// A row fits calls of its operation with at most its ranks and bytes; the first one that fits counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/call.hpp"

namespace baton::collectives {

/// Whether the data of a call lies where the others reach it.
enum class Location : std::uint8_t { in_windows, elsewhere };

inline constexpr int kAnyRanks = 1 << 30;
inline constexpr std::size_t kAnyBytes = SIZE_MAX;

struct TunedRule {
  Operation operation = Operation::barrier;
  int most_ranks = kAnyRanks;
  Location location = Location::in_windows;
  std::size_t most_bytes = kAnyBytes;
  Algorithm algorithm = Algorithm::automatic;

  friend bool operator==(const TunedRule&, const TunedRule&) = default;
};

/// Throws bad_option that names the line.
[[nodiscard]] std::vector<TunedRule> parse_table(std::string_view text, std::string_view file);
[[nodiscard]] std::vector<TunedRule> read_table_file(const std::string& file);
/// The rows as text, with a line that names the columns.
[[nodiscard]] std::string format_table(const std::vector<TunedRule>& rules);

}  // namespace baton::collectives
