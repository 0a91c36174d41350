// The sum over the ranks of a domain, element by element, for everybody.
#pragma once

#include "collective.hpp"

namespace collective {

/// sum = the first `count` elements of all windows. Everybody adds by rank, so that all get the same bits. Uses signals
/// 0 and 1; `epoch` is the number of the call, from 1 on. When it returns, windows may be written again.
AICORE inline void sum_over_ranks(const Member& me, float* sum, int64_t count, int32_t epoch) {
  me.meet(0, epoch);  // all windows are full
  copy(sum, me.theirs(0), count);
  for (int peer = 1; peer < me.ranks(); ++peer) add(sum, me.theirs(peer), count);
  me.meet(1, epoch);  // nobody reads them any more
}

}  // namespace collective
