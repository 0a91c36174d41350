// The bytes that an instruction touches, as runs without gaps.
#pragma once

#include <pto/target/core.hpp>

#include "base/function_ref.hpp"
#include "chip/cores/sim/access_map.hpp"

namespace baton::chip {

/// Calls visit(run) for each run, as long as it is true. False if it stopped.
bool for_each_run(const BatonTileRange& range, FunctionRef<bool(ByteRange)> visit);
bool for_each_run(const BatonGlobalRange& range, FunctionRef<bool(ByteRange)> visit);

}  // namespace baton::chip
