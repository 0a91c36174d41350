// Who ended which wait, and which task waited for which.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/analysis.hpp"

namespace baton::trace {

/// From notifies to the waits that they ended, and from the last arrival at a barrier to those who waited there.
[[nodiscard]] std::vector<Flow> find_notifies(const Trace& trace);
/// From tasks to those that waited for them.
[[nodiscard]] std::vector<Flow> find_edges(const Trace& trace);
/// Of barriers and windows of all ranks that one of them never came to: by the spans of the others, that rank, or
/// kNoRank if several are missing.
[[nodiscard]] std::unordered_map<std::size_t, std::uint32_t> find_absent(const Trace& trace);

}  // namespace baton::trace
