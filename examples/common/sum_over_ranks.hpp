// The sum over the ranks of a domain, element by element, of what lies in their windows already.
#pragma once

#include "collective.hpp"

namespace collective {

/// sum = the first `count` elements of the windows of all. Everybody adds by rank, so that all get the same bits. When
/// it returns, windows may be written again.
AICORE inline void sum_over_ranks(baton::collectives::Member<float>& me, float* sum, int64_t count) {
  baton::collectives::Work work = baton::collectives::work_of<float>(count);
  work.input = {me.room(), baton::collectives::Reach::all_ranks};
  work.output.mine = reinterpret_cast<std::byte*>(sum);
  me.begin(0);
  baton::collectives::allreduce_one_phase(me, work);
  me.end();
}

}  // namespace collective
