// Whether two views have a byte in common.
#pragma once

#include <cstdint>

#include "chip/graph/view.hpp"

namespace baton::graph {

enum class Overlap : std::uint8_t {
  none,
  some,
  undecided,  // arithmetic within the work limit did not tell: to be taken for an overlap
};

/// Steps that the search may take for views with several strides that differ. Views whose strides nest (each a
/// multiple of what the smaller ones span) need a handful.
inline constexpr int kOverlapWork = 512;

/// Exact, unless it says `undecided`. Both views lie in the same space.
[[nodiscard]] Overlap overlap(const View& a, const View& b, int work_limit = kOverlapWork);

/// Whether every byte of `inner` certainly lies in `outer`. False may also mean: not decided.
[[nodiscard]] bool covers(const View& outer, const View& inner);

}  // namespace baton::graph
