#include "cli/help_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/described_command.hpp"

namespace baton::cli {

HelpFormat::HelpFormat() {
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  const DescribedOption described = describe(*option);
  std::string text;
  if (!described.choices.empty()) {
    text = fmt::format(" {}", fmt::join(described.choices, "|"));
  } else if (!described.is_argument() && !described.value.empty()) {
    text = " " + described.value;
  }
  return described.is_argument() && described.repeats ? text + " ..." : text;
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  const DescribedOption described = describe(*option);
  if (described.default_value.empty()) return described.text;
  return fmt::format("{} Default: {}.", described.text, described.default_value);
}

std::string HelpFormat::make_footer(const CLI::App* command) const {
  const std::string text = command->get_footer();
  const std::size_t begin = text.find_first_not_of('\n');
  return begin == std::string::npos ? "" : text.substr(begin) + "\n";
}

std::string ProgramHelpFormat::make_usage(const CLI::App* command, std::string) const {
  return fmt::format("Usage: baton {} [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n", command->get_name());
}

}  // namespace baton::cli
