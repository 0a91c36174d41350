// The command line as data, taken from its own definitions: what completions and the manual page are made of.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace baton::cli {

struct DescribedOption {
  std::vector<std::string> names;  // with their dashes; none for an argument
  std::string value;               // what stands for the value: "COUNT"; empty for a flag
  std::vector<std::string> choices;
  std::string text;
  std::string default_value;  // empty: there is none, or the text says it
  bool repeats = false;       // several words

  [[nodiscard]] bool is_argument() const noexcept { return names.empty(); }
  [[nodiscard]] bool takes_folder() const { return value == "DIR"; }
  /// Whether files are worth offering.
  [[nodiscard]] bool takes_file() const { return value == "FILE" || value == "SOURCE" || value == "PROGRAM"; }
};

struct DescribedCommand {
  std::string name;
  std::string text;    // one sentence
  std::string footer;  // further text and examples
  std::vector<DescribedOption> options;
  /// Words behind it are not its own: files are offered.
  bool takes_anything = false;
};

struct DescribedProgram {
  DescribedCommand itself;
  std::vector<DescribedCommand> commands;
};

[[nodiscard]] DescribedOption describe(const CLI::Option& option);

/// Hidden options and commands are left out.
[[nodiscard]] DescribedProgram describe(const CLI::App& program);

}  // namespace baton::cli
