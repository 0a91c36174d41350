// How `--help` shows options, arguments and commands: as the manual page and the completions describe them.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace baton::cli {

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat();
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* command) const override;
};

/// Of a command with a program behind its options.
class ProgramHelpFormat : public HelpFormat {
 public:
  [[nodiscard]] std::string make_usage(const CLI::App* command, std::string) const override;
};

}  // namespace baton::cli
