// What nothing could have shortened.
#pragma once

#include <vector>

#include "trace/analysis.hpp"

namespace baton::trace {

/// From the end of the trace back to its begin: at each moment what the end waited for.
[[nodiscard]] std::vector<PathPart> find_critical_path(const Trace& trace, const std::vector<Flow>& notifies);

}  // namespace baton::trace
