#include "cli/shell_completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace baton::cli {
namespace {

std::string names_of(const DescribedCommand& command) {
  std::string words;
  for (const DescribedOption& option : command.options) {
    for (const std::string& name : option.names) words += (words.empty() ? "" : " ") + name;
  }
  return words;
}

/// Between single quotes of any of the shells.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

/// A text of zsh's _arguments, in which brackets and colons mean something.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const DescribedOption& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  if (option.takes_folder()) return "_files -/";
  return option.takes_file() ? "_files" : "";
}

std::string zsh_argument(const DescribedOption& option) {
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
  if (option.is_argument()) return shell_quoted((option.repeats ? "*" : "") + value);
  std::string all;
  for (const std::string& name : option.names) {
    // An option excludes its other name, unless it may come again.
    const std::string others = option.repeats ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    all +=
        (all.empty() ? "" : " ") + shell_quoted(fmt::format("{}{}[{}]{}", others, name, zsh_text(option.text), value));
  }
  return all;
}

}  // namespace

std::string bash_completion(const DescribedProgram& program) {
  const std::string& name = program.itself.name;
  std::vector<std::string> commands;
  for (const DescribedCommand& command : program.commands) commands.push_back(command.name);
  std::string script = fmt::format(
      "# Completion of {0} in bash. Written by `{0} completion bash`.\n"
      "_{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case ${{COMP_WORDS[i]}} in\n"
      "      {1}) command=${{COMP_WORDS[i]}}; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case $command in\n"
      "    '') mapfile -t COMPREPLY < <(compgen -W {2} -- \"$word\"); return ;;\n",
      name, fmt::join(commands, " | "),
      shell_quoted(fmt::format("{} {}", fmt::join(commands, " "), names_of(program.itself))));
  for (const DescribedCommand& command : program.commands) {
    script += fmt::format("    {})\n      case $before in\n", command.name);
    std::string argument_words;
    for (const DescribedOption& option : command.options) {
      if (option.is_argument()) {
        argument_words = fmt::format("{}", fmt::join(option.choices, " "));
        continue;
      }
      if (option.value.empty()) continue;
      std::string reply = "return";
      if (!option.choices.empty()) {
        reply = fmt::format("mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\"); return",
                            shell_quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      } else if (option.takes_folder()) {
        reply = "mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return";
      } else if (option.takes_file()) {
        reply = "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return";
      }
      script += fmt::format("        {}) {} ;;\n", fmt::join(option.names, " | "), reply);
    }
    script += fmt::format(
        "      esac\n      if [[ $word == -* ]]; then\n        mapfile -t COMPREPLY < <(compgen -W {} -- "
        "\"$word\")\n        return\n      fi\n",
        shell_quoted(names_of(command)));
    if (!argument_words.empty()) {
      script += fmt::format("      mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n      return\n",
                            shell_quoted(argument_words));
    }
    script += "      ;;\n";
  }
  return script +
         fmt::format(
             "  esac\n  mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n}}\ncomplete -o filenames -F _{0} {0}\n",
             name);
}

std::string zsh_completion(const DescribedProgram& program) {
  const std::string& name = program.itself.name;
  std::string script = fmt::format(
      "#compdef {0}\n# Completion of {0} in zsh. Written by `{0} completion zsh`.\n_{0}() {{\n  local -a commands=(\n",
      name);
  for (const DescribedCommand& command : program.commands) {
    script += fmt::format("    {}\n", shell_quoted(command.name + ":" + zsh_text(command.text)));
  }
  script += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    _arguments";
  for (const DescribedOption& option : program.itself.options) script += " \\\n      " + zsh_argument(option);
  script += "\n    return\n  fi\n  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const DescribedCommand& command : program.commands) {
    script += fmt::format("    {})\n      _arguments", command.name);
    bool has_arguments = false;
    for (const DescribedOption& option : command.options) {
      script += " \\\n        " + zsh_argument(option);
      has_arguments = has_arguments || option.is_argument();
    }
    if (!has_arguments && command.takes_anything) script += " \\\n        '*:word:_files'";
    script += "\n      ;;\n";
  }
  return script + fmt::format("  esac\n}}\n_{} \"$@\"\n", name);
}

std::string fish_completion(const DescribedProgram& program) {
  const std::string& name = program.itself.name;
  std::string script = fmt::format("# Completion of {0} in fish. Written by `{0} completion fish`.\n", name);
  const auto add = [&](const DescribedOption& option, const std::string& when) {
    std::string line = fmt::format("complete -c {} -n {}", name, shell_quoted(when));
    for (const std::string& spelling : option.names) {
      line += spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
    }
    if (!option.choices.empty()) {
      line += fmt::format(" -x -a {}", shell_quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    } else if (option.takes_folder()) {
      line += " -x -a '(__fish_complete_directories)'";
    } else if (option.takes_file()) {
      line += " -r -F";
    } else if (!option.value.empty()) {
      line += " -x";
    }
    if (!option.text.empty()) line += " -d " + shell_quoted(option.text);
    if (!option.is_argument() || !option.choices.empty()) script += line + "\n";
  };
  for (const DescribedOption& option : program.itself.options) add(option, "__fish_use_subcommand");
  for (const DescribedCommand& command : program.commands) {
    script += fmt::format("complete -c {} -n __fish_use_subcommand -f -a {} -d {}\n", name, command.name,
                          shell_quoted(command.text));
    for (const DescribedOption& option : command.options) add(option, "__fish_seen_subcommand_from " + command.name);
  }
  return script;
}

}  // namespace baton::cli
