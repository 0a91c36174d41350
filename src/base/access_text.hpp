// How accesses are named in what `baton check` reads.
#pragma once

#include "base/event.hpp"

namespace baton {

/// The text of "put at relay.cpp:14", or "TLOAD at add.cpp:26 in kernel 'add'". The thread remembers those it had.
[[nodiscard]] TextId text_of_access(const char* operation, const EventSource& from);

}  // namespace baton
