// Collective allocation of segments.
#pragma once

#include <memory>
#include <string_view>

#include "base/function_ref.hpp"
#include "comm/domain_state.hpp"
#include "comm/shared_memory.hpp"

namespace baton::comm {

/// Called with the segment before any other member can know that this one has it.
using SegmentUse = FunctionRef<void(const std::shared_ptr<SharedMemory>& segment, wire::AllocationKey key)>;

/// Gives the members of `domain` one zeroed segment with a part of `part_bytes` each; of the parts of members of other
/// hosts only the addresses. Collective: the first member of each host makes its segment, all compare what they asked
/// for, and none returns before all have it. Throws mismatch with both sides.
[[nodiscard]] std::shared_ptr<SharedMemory> allocate_segment(DomainState& domain, std::string_view name,
                                                             std::uint64_t part_bytes, SegmentUse use);

}  // namespace baton::comm
