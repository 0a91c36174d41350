// The environment of this process.
#pragma once

#include <string>
#include <vector>

namespace baton {

/// Every NAME=VALUE of it, in its order.
[[nodiscard]] std::vector<std::string> environment_of_this_process();

}  // namespace baton
