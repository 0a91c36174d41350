// The table of functions that tile instructions call.
#pragma once

#include <pto/target/core.hpp>

namespace baton::chip {

/// For cores that are SimCore.
extern const BatonCoreTable kSimCoreTable;

}  // namespace baton::chip
