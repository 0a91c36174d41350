// Names that nobody else has.
#pragma once

#include <string>

namespace baton::job {

/// 32 hexadecimal digits from the kernel's random numbers.
[[nodiscard]] std::string random_name();

}  // namespace baton::job
