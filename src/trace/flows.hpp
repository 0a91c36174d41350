// Who ended which wait, and which task waited for which.
#pragma once

#include <vector>

#include "trace/analysis.hpp"

namespace baton::trace {

/// From notifies to the waits that they ended, and from the last arrival at a barrier to those who waited there.
[[nodiscard]] std::vector<Flow> find_notifies(const Trace& trace);
/// From tasks to those that waited for them.
[[nodiscard]] std::vector<Flow> find_edges(const Trace& trace);

}  // namespace baton::trace
