// What messages call the function that an instruction stands in.
#pragma once

#include <string>

namespace baton::chip {

/// A kernel by the name that its author gave it, any other function as C++ writes it; "?" for null.
[[nodiscard]] std::string name_of_code(const char* symbol);

}  // namespace baton::chip
