// Multiples that fall into a window of residues.
#pragma once

#include <cstdint>
#include <optional>

namespace baton::graph {

/// The smallest x >= 0 for which (a * x) mod m lies in [low, high], or nothing. 0 <= a < m, 0 <= low <= high < m.
/// As many steps as Euclid's algorithm takes for a and m.
[[nodiscard]] std::optional<std::uint64_t> first_multiple_within(std::uint64_t a, std::uint64_t m, std::uint64_t low,
                                                                 std::uint64_t high);

}  // namespace baton::graph
