// Large blocks from each rank to each, where hosts have several: lanes would have to copy them.
#pragma once

#include "base/function_ref.hpp"
#include "collectives/hosts/rounds.hpp"

namespace baton::collectives {

/// The same on all ranks.
[[nodiscard]] bool goes_straight(const Rounds& rounds);

/// What goes between members of this host; see run().
using AllToAllHere = FunctionRef<void()>;
void run_straight(Rounds& rounds, AllToAllHere exchange_here);

}  // namespace baton::collectives
