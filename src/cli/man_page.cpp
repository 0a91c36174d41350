#include "cli/man_page.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/option_table.hpp"

namespace baton::cli {
namespace {

/// Text as roff shows it: dashes stay dashes, and no line begins with a request.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string options_of(const DescribedCommand& command) {
  std::string page;
  for (const DescribedOption& option : command.options) {
    page += ".TP\n";
    if (option.is_argument()) {
      page += fmt::format("\\fI{}\\fR{}\n", roff(option.value), option.repeats ? " ..." : "");
    } else {
      std::vector<std::string> names;
      for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
      page += fmt::format("{}{}\n", fmt::join(names, ", "),
                          option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR");
    }
    page += roff(option.text) + "\n";
    if (!option.default_value.empty()) page += roff(fmt::format("Default: {}.", option.default_value)) + "\n";
    if (!option.choices.empty()) page += roff(fmt::format("One of: {}.", fmt::join(option.choices, ", "))) + "\n";
  }
  return page;
}

/// The text below the options of --help: as it is, for its columns.
std::string footer_of(const DescribedCommand& command) {
  const std::size_t begin = command.footer.find_first_not_of('\n');
  if (begin == std::string::npos) return "";
  return fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer.substr(begin)));
}

}  // namespace

std::string man_page(const DescribedProgram& program, std::string_view version) {
  const std::string& name = program.itself.name;
  std::string page = fmt::format(
      ".\\\" Written by `{0} man`.\n.TH {1} 1 \"\" \"{0} {2}\" \"User Commands\"\n.SH NAME\n{0} \\- {3}\n"
      ".SH SYNOPSIS\n.B {0}\n\\fICOMMAND\\fR [\\fIOPTION\\fR ...]\n.SH OPTIONS\n",
      name, upper(name), version, roff(program.itself.text));
  page += options_of(program.itself);
  page += footer_of(program.itself);
  page += ".SH COMMANDS\n";
  for (const DescribedCommand& command : program.commands) {
    page += fmt::format(".SS \"{} {}\"\n{}\n", name, command.name, roff(command.text));
    page += options_of(command);
    page += footer_of(command);
  }
  page += ".SH ENVIRONMENT\n";
  for (const OptionInfo& variable : option_table()) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\nAccepted: {}.\n", roff(variable.name), roff(variable.sentence),
                        roff(variable.form));
    if (!variable.default_value.empty()) page += fmt::format("Default: {}.\n", roff(variable.default_value));
  }
  return page;
}

}  // namespace baton::cli
