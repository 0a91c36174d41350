// Collective allocation of segments.
#pragma once

#include <memory>
#include <string_view>

#include "comm/domain_state.hpp"
#include "comm/shared_memory.hpp"

namespace baton::comm {

/// Gives the members of `domain` one zeroed segment with a part of `part_bytes` each. Collective: member 0 makes the
/// segment, all compare what they asked for, and none returns before all have it. Throws mismatch with both sides.
[[nodiscard]] std::shared_ptr<SharedMemory> allocate_segment(DomainState& domain, std::string_view name,
                                                             std::uint64_t part_bytes);

}  // namespace baton::comm
