#include "base/demangled.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace baton {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                             &std::free);
  return status == 0 && readable ? readable.get() : name;
}

}  // namespace baton
