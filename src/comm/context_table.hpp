// The table of windows that kernels receive.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace baton::comm {

/// The words of a CommContext for `windows`, by rank; of a CommContextLarge if there are more than it holds.
/// Refers to itself: move the words, do not copy them.
[[nodiscard]] std::vector<std::uint64_t> make_context(std::uint32_t rank, std::uint64_t window_bytes,
                                                      std::span<const std::uint64_t> windows);

}  // namespace baton::comm
