#include <cstdio>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/man_page.hpp"
#include "cli/shell_completion.hpp"
#include "cli/version.hpp"

namespace baton::cli {
namespace {

constexpr const char* kCompletionExamples = R"(
`make install` puts them where the shells look. For one user:
  bash   baton completion bash > ~/.local/share/bash-completion/completions/baton
  zsh    baton completion zsh > ~/.zfunc/_baton        with fpath+=(~/.zfunc) before compinit in ~/.zshrc
  fish   baton completion fish > ~/.config/fish/completions/baton.fish)";

}  // namespace

CompletionCommand::CompletionCommand(CLI::App& baton) : baton_(baton) {
  app_ = baton.add_subcommand("completion", "Write what a shell needs to complete commands and options of baton.");
  app_->add_option("SHELL", shell_, "The shell.")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app_->footer(kCompletionExamples);
}

int CompletionCommand::run(const std::vector<std::string>&) {
  const DescribedProgram program = describe(baton_);
  if (shell_ == "bash") fmt::print("{}", bash_completion(program));
  if (shell_ == "zsh") fmt::print("{}", zsh_completion(program));
  if (shell_ == "fish") fmt::print("{}", fish_completion(program));
  return 0;
}

ManCommand::ManCommand(CLI::App& baton) : baton_(baton) {
  app_ = baton.add_subcommand("man", "Write the manual page of baton.");
  app_->footer("\nexamples:\n  baton man | man -l -");
}

int ManCommand::run(const std::vector<std::string>&) {
  fmt::print("{}", man_page(describe(baton_), version()));
  return 0;
}

}  // namespace baton::cli
