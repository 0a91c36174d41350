// The command line of Baton.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/edit_distance.hpp"
#include "base/fail.hpp"
#include "base/quote.hpp"
#include "cli/command.hpp"
#include "cli/help_format.hpp"
#include "cli/standard_files.hpp"
#include "cli/version.hpp"
#include "job/launch/launcher.hpp"

namespace baton::cli {
namespace {

constexpr const char* kBatonExamples = R"(
examples:
  baton run -n 4 ./train --epochs 3     four ranks of one program
  baton run -d 0-3 ./train              one rank for each device
  baton run --hosts a:4,b:4 ./train     eight ranks on two hosts
  baton compile scale.cpp               compiles a kernel into the cache
  baton test tests/ -d 0-7              tests of kernels, packed onto eight devices
  baton check -n 4 ./train              which accesses to windows race
  baton ps                              who waits for what, in every job of yours
  baton trace run.trace --html run.html what the ranks of a run did, and who waited for whom
  baton explain BATON-E031              what an error means, and what to try
  baton tune -o machine.table           which collectives are fastest on this machine
  baton bench comm --quick              Baton beside its peers, on this machine
  baton doctor                          what works on this machine, and what is missing
  baton man | man -l -                  the manual page

`baton COMMAND --help` tells more about a command.)";

int exit_code_of(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::bad_option:
    case Code::bad_device_list: return kExitUsage;
    case Code::launch_failed: return kExitNotStarted;
    default: return kExitFailure;
  }
}

class VersionCommand : public Command {
 public:
  explicit VersionCommand(CLI::App& baton) {
    app_ = baton.add_subcommand("version", "Show the version, commit, compiler and platforms.");
  }
  [[nodiscard]] int run(const std::vector<std::string>&) override {
    fmt::print("{}\n", describe_version());
    return 0;
  }
};

/// CLI11's "--core: tensor not in {vector,cube}" in words: "--core: tensor is not one of vector, cube".
std::string in_words(std::string text) {
  constexpr std::string_view kNotIn = " not in {";
  const std::size_t begin = text.find(kNotIn);
  if (begin == std::string::npos || !text.ends_with('}')) return text;
  std::string choices;
  for (const char c : text.substr(begin + kNotIn.size(), text.size() - begin - kNotIn.size() - 1)) {
    choices += c == ',' ? ", " : std::string(1, c);
  }
  return text.substr(0, begin) + " is not one of " + choices;
}

/// What is wrong with a command line that names no command.
std::string describe_parse_error(const CLI::App& baton, const CLI::ParseError& error,
                                 const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "COMMAND is missing, as in: baton run -n 4 ./program";
  if (!baton.get_subcommands().empty() || arguments.front().starts_with('-')) return in_words(error.what());
  std::string nearest;
  for (const CLI::App* command : baton.get_subcommands({})) {
    if (edit_distance(arguments.front(), command->get_name()) <= 2) nearest = command->get_name();
  }
  return fmt::format("there is no command {}{}", quote(arguments.front()),
                     nearest.empty() ? "" : fmt::format("; do you mean {}?", nearest));
}

/// An empty text is not a value: a script whose variable is empty is told so.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) fail(Situation::missing_argument, "{} has an empty value", option->get_name(true, true));
    }
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_empty_values(*command);
}

/// Reads the command line and runs what it says.
int run(std::vector<std::string> arguments) {
  CLI::App baton("Baton runs programs as the ranks of a job and shows what they do.", "baton");
  baton.footer(kBatonExamples);
  baton.formatter(std::make_shared<HelpFormat>());
  baton.set_help_flag("-h,--help", "Print this help and exit.");
  baton.set_version_flag("--version", describe_version(), "Show the version, how it was built, and exit.");
  baton.require_subcommand(1);
  std::array<std::unique_ptr<Command>, 16> commands = {
      std::make_unique<RunCommand>(baton),     std::make_unique<CompileCommand>(baton),
      std::make_unique<CheckCommand>(baton),   std::make_unique<PsCommand>(baton),
      std::make_unique<ExplainCommand>(baton), std::make_unique<TestCommand>(baton),
      std::make_unique<TuneCommand>(baton),    std::make_unique<BenchCommand>(baton),
      std::make_unique<DoctorCommand>(baton),  std::make_unique<CompletionCommand>(baton),
      std::make_unique<ManCommand>(baton),     std::make_unique<VersionCommand>(baton),
      std::make_unique<TraceCommand>(baton),   std::make_unique<AgentCommand>(baton),
      std::make_unique<NodeCommand>(baton),    std::make_unique<GatherCommand>(baton)};

  for (CLI::App* command : baton.get_subcommands({})) {
    if (command->get_group() == "Subcommands") command->group("Commands");  // as CLI11 calls them otherwise
  }

  // What follows the first `--` is never an option of baton; the library would reject it behind a program's name.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> after_dashes(dashes, arguments.end());
  arguments.erase(dashes, arguments.end());
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    baton.parse(reversed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return baton.exit(error);  // --help, --version
    fmt::print(stderr, "baton: {}\n  try: baton {}--help\n", describe_parse_error(baton, error, arguments),
               baton.get_subcommands().empty() ? "" : baton.get_subcommands().front()->get_name() + " ");
    return kExitUsage;
  }
  refuse_empty_values(baton);
  for (const auto& command : commands) {
    if (command->chosen()) return command->run(after_dashes);
  }
  return kExitUsage;
}

/// What was printed must also have arrived. A reader that went away, as `head` does, is not a failure.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) return job::kOutputGoneExitCode;
  fmt::print(stderr, "baton: cannot write to standard output: {}\n", ::strerrordesc_np(errno));
  return kExitFailure;
}

}  // namespace
}  // namespace baton::cli

int main(int argc, char** argv) {
  try {
    baton::cli::open_standard_files();
    return baton::cli::finish(baton::cli::run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc)));
  } catch (const baton::Error& error) {
    fmt::print(stderr, "baton: {}\n", error.what());
    return baton::cli::exit_code_of(error.code());
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return baton::job::kOutputGoneExitCode;
    fmt::print(stderr, "baton: {}\n", error.what());
    return baton::cli::kExitFailure;
  } catch (const std::exception& error) {
    fmt::print(stderr, "baton: {}\n", error.what());
    return baton::cli::kExitFailure;
  }
}
