// Names of the C++ runtime as programs write them.
#pragma once

#include <string>

namespace baton {

/// "_ZN2ns4stopEi" and "2ns4Stop" become "ns::stop(int)" and "ns::Stop"; what is not a mangled name stays as it is.
[[nodiscard]] std::string demangled(const char* name);

}  // namespace baton
