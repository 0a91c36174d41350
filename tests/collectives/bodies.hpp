// What ranks do in tests of several kinds of jobs. What is wrong is an error of the rank that finds it, unless said
// otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cases.hpp"

namespace baton::test {

/// Messages of all sizes from each to its right neighbour.
void pass_messages_round(Domain me);

/// all_to_all_v with blocks from none to many elements, and an output where `memory` says.
void exchange_blocks_of_all_sizes(Domain me, Memory memory);

enum class Way : std::uint8_t { usual, memory };
/// Blocks that lie apart, as operations choose or straight from memory to memory. Returns how many are not what they
/// should be.
[[nodiscard]] int wrong_blocks(const Domain& me, std::size_t count, Way way);

}  // namespace baton::test
