#include "chip/graph/congruence.hpp"

namespace baton::graph {

__extension__ using Wide = unsigned __int128;

std::optional<std::uint64_t> first_multiple_within(std::uint64_t a, std::uint64_t m, std::uint64_t low,
                                                   std::uint64_t high) {
  if (low == 0) return 0;
  if (a == 0) return std::nullopt;
  // The first multiple of a that is not below the window, if it has not jumped over it.
  const std::uint64_t steps = (low - 1) / a + 1;
  if (steps <= high / a) return steps;
  // No multiple of a lies inside [low, high] itself, so the product wraps: a*x = m*y + r with r in the window. Modulo
  // a, m*y + low .. m*y + high contains 0 for the smallest such y, which is the same question for smaller numbers.
  const std::uint64_t wrapped = m % a;
  const std::uint64_t least = (a - high % a) % a;
  const std::uint64_t most = (a - low % a) % a;
  const auto turns = first_multiple_within(wrapped, a, least, most);
  if (!turns) return std::nullopt;
  return static_cast<std::uint64_t>((Wide{m} * *turns + low + a - 1) / a);
}

}  // namespace baton::graph
