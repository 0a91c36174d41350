// Tasks that wait for a signal without a core.
#pragma once

#include "trace/trace.hpp"

namespace baton::trace {

/// A graph is submitted long before its tasks can run, so a task may wait for a signal while its chip has enough to do.
/// What counts as waiting is when the chip has nothing else: each deferral begins there, after the one before it. When
/// the task really began to wait becomes `d`.
void shorten_deferrals(Trace& trace);

}  // namespace baton::trace
