// The files that a compiler says it has read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::kernel {

/// The prerequisites of the one rule in `makefile`, as `-MD` writes it, without the escapes of make.
[[nodiscard]] std::vector<std::string> parse_dependencies(std::string_view makefile);

}  // namespace baton::kernel
