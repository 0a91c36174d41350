// What a shell needs to complete the command line of Baton.
#pragma once

#include <string>

#include "cli/described_command.hpp"

namespace baton::cli {

[[nodiscard]] std::string bash_completion(const DescribedProgram& program);
[[nodiscard]] std::string zsh_completion(const DescribedProgram& program);
[[nodiscard]] std::string fish_completion(const DescribedProgram& program);

}  // namespace baton::cli
