// What a node has to know of a platform before it starts chips.
#pragma once

#include <string>

namespace baton::chip {

/// Whether several of its chips may be parts of one device, which they share only within one process. Throws Error
/// (unsupported) if there is no such platform.
[[nodiscard]] bool shares_devices(const std::string& platform);

}  // namespace baton::chip
