// How far a misspelt name is from a known one.
#pragma once

#include <cstddef>
#include <string_view>

namespace baton {

/// The least number of letters to insert, delete, replace or swap with their neighbour that turns `a` into `b`
/// (no letter is edited twice).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace baton
