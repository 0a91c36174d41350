#include "cli/described_command.hpp"

#include <algorithm>
#include <sstream>

namespace baton::cli {
namespace {

/// The words of "TEXT:{vector,cube}", which is how CLI11 writes a choice.
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

DescribedCommand describe_command(const CLI::App& app) {
  DescribedCommand out;
  out.name = app.get_name();
  out.text = app.get_description();
  out.footer = app.get_footer();
  out.takes_anything = app.get_prefix_command();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) out.options.push_back(cli::describe(*option));
  }
  return out;
}

}  // namespace

DescribedOption describe(const CLI::Option& option) {
  DescribedOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.text = option.get_description();
  if (option.get_items_expected_max() == 0) return out;
  // With a delimiter several are one word.
  out.repeats = option.get_expected_max() > 1 && option.get_delimiter() == '\0';
  out.default_value = option.get_default_str();
  if (out.default_value.starts_with('[')) out.default_value = out.default_value.substr(1, out.default_value.size() - 2);
  const std::string type = option.get_type_name();
  out.choices = choices_of(type);
  if (out.is_argument()) {
    out.value = option.get_name(true);
  } else {
    // CLI11's own names for types say nothing to people.
    const std::string word = type.substr(0, type.find(':'));
    out.value = word == "TEXT" || word == "INT" || word.empty() ? (word == "INT" ? "N" : "WORD") : word;
  }
  return out;
}

DescribedProgram describe(const CLI::App& program) {
  DescribedProgram out{describe_command(program), {}};
  for (const CLI::App* command : program.get_subcommands({})) {
    if (!command->get_group().empty()) out.commands.push_back(describe_command(*command));
  }
  return out;
}

}  // namespace baton::cli
