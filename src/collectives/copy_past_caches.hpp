// Copies in calls that move more than the caches hold.
#pragma once

#include <cstddef>

namespace baton::collectives {

/// Whether memory that a call wrote has left the caches when that call has touched so many bytes.
[[nodiscard]] bool exceeds_caches(std::size_t bytes);

/// Copies `bytes`, which must not overlap, past the caches where the machine has stores for that: it need not fetch the
/// lines that it overwrites. Ordered before later stores as memcpy is.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace baton::collectives
