// The manual page of the command line.
#pragma once

#include <string>
#include <string_view>

#include "cli/described_command.hpp"

namespace baton::cli {

/// In roff, for man(1).
[[nodiscard]] std::string man_page(const DescribedProgram& program, std::string_view version);

}  // namespace baton::cli
