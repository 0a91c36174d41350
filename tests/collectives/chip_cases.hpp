// Calls that chips can make, drawn at random.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <utility>

#include "cases.hpp"

namespace baton::test {

/// Every operation of kernels with each of its algorithms.
[[nodiscard]] std::span<const std::pair<collectives::Operation, Algorithm>> chip_algorithms();

/// With fewer than `most` elements in a block.
[[nodiscard]] Case draw_chip_case(std::mt19937_64& random, int ranks, std::size_t most);

/// Elements that rank `from` sends to rank `to` in a round of all_to_all_v: often none, sometimes many.
[[nodiscard]] std::int32_t uneven_count(int from, int to, int round);
/// The data of such a round, block behind block, and what `rank` gets.
[[nodiscard]] std::vector<std::int32_t> uneven_input(int rank, int ranks, int round);
[[nodiscard]] std::vector<std::int32_t> uneven_output(int rank, int ranks, int round);
/// What `rank` sends to each, then what it gets from each.
[[nodiscard]] std::vector<std::int32_t> uneven_counts(int rank, int ranks, int round);

}  // namespace baton::test
