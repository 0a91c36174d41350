// Copies in calls that move more than the caches hold.
#pragma once

#include <cstddef>

namespace baton::collectives {

/// Of a call that touches as many bytes, what was written first has left the caches in the end.
[[nodiscard]] std::size_t more_than_caches_hold();

/// Copies `bytes`, which must not overlap, past the caches where the machine has stores for that: it need not fetch the
/// lines that it overwrites. Ordered before later stores as memcpy is.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace baton::collectives
