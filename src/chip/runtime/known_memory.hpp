// Submissions use memory that kernels may touch.
#pragma once

#include "base/fail.hpp"
#include "chip/cores/local_memory.hpp"
#include "chip/graph/view.hpp"

namespace baton::chip {

/// Throws Error (released) if `memory` has no bytes where the view is.
inline void require_known(const LocalMemory& memory, const graph::View& view) {
  const auto* begin = reinterpret_cast<const void*>(view.start);
  const std::uint64_t bytes = view.end() - view.start;
  if (memory.known(begin, bytes)) return;
  fail(Situation::not_chip_memory,
       "a tensor of {} bytes at {:#x} is not memory of this chip: it was freed, or never given to it with add() ({})",
       bytes, view.start, memory.describe_nearest(begin));
}

}  // namespace baton::chip
