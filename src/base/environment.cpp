#include "base/environment.hpp"

#include <unistd.h>

namespace baton {

std::vector<std::string> environment_of_this_process() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace baton
