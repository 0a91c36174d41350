// The bytes that an instruction touches, as runs without gaps.
#pragma once

#include <pto/target/core.hpp>

#include "base/checked_event.hpp"
#include "base/function_ref.hpp"
#include "chip/cores/sim/access_map.hpp"

namespace baton::chip {

/// Calls visit(run) for each run, as long as it is true. False if it stopped.
bool for_each_run(const BatonTileRange& range, FunctionRef<bool(ByteRange)> visit);
bool for_each_run(const BatonGlobalRange& range, FunctionRef<bool(ByteRange)> visit);
/// Calls visit(address, rows) with as many runs at a time as lie at equal distances and fit into an event.
void for_each_rows(const BatonGlobalRange& range, FunctionRef<void(std::uintptr_t, const CheckedRows&)> visit);

}  // namespace baton::chip
