#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "cli/command.hpp"

namespace baton::cli {
namespace {

/// Says what to do if the package is missing, instead of a traceback.
constexpr const char* kRunner = R"(
import sys
try:
    from baton.runner.command import main
except ImportError as error:
    sys.exit(f"baton: {sys.executable} cannot load the Python package of Baton: {error}\n"
             "  try: pip install baton, or PYTHON=... for the Python that has it")
sys.exit(main())
)";

/// A program of the build tree has the package beside its folder.
void offer_package_of_build_tree() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto folder = program.parent_path().parent_path() / "python";
  if (!std::filesystem::exists(folder / "baton" / "__init__.py", ignored)) return;
  const char* present = std::getenv("PYTHONPATH");
  const std::string path = present == nullptr ? folder.string() : folder.string() + ":" + present;
  ::setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace

TestCommand::TestCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("test", "Run tests of kernels, packed onto devices, each in a process of its own.");
  app_->allow_extras();
  app_->set_help_flag();  // the runner has its own
  app_->prefix_command();
}

int TestCommand::run(const std::vector<std::string>& after_dashes) {
  const char* given = std::getenv("PYTHON");
  std::string python = given == nullptr ? "python3" : given;
  std::vector<std::string> words = {python, "-c", kRunner};
  for (const std::string& word : app_->remaining()) words.push_back(word);
  words.insert(words.end(), after_dashes.begin(), after_dashes.end());
  offer_package_of_build_tree();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int reason = errno;
  throw Error(Code::launch_failed, fmt::format("{} cannot be started: {}", quote(python), std::strerror(reason)),
              {"PYTHON names the Python that has the package of Baton"});
}

}  // namespace baton::cli
