// Notifies that went to another host: the sender does not know the value that the signal then has.
#pragma once

#include "trace/trace.hpp"

namespace baton::trace {

/// Gives them the value that the owner of the signal recorded when they arrived. What one rank sends to one signal
/// arrives in the order in which it was sent. Arrivals are not there any more then.
void join_far_notifies(Trace& trace);

}  // namespace baton::trace
