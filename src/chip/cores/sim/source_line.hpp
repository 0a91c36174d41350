// From an address in this process's code to the line it was compiled from.
#pragma once

#include <optional>
#include <string>

namespace baton::chip {

/// "scale.cpp:12", or nothing: the binary has no line numbers, or Baton was built without libdw. Of code of a header of
/// Baton's or of the system that the compiler has moved into its caller: the line of the caller.
[[nodiscard]] std::optional<std::string> source_line(const void* address);

}  // namespace baton::chip
