#include "cli/command.hpp"
#include "cli/python_program.hpp"

namespace baton::cli {
namespace {

/// Says what to do if the package is missing, instead of a traceback.
constexpr const char* kRunner = R"(
import sys
try:
    from baton.runner.command import main
except ImportError as error:
    sys.exit(f"baton: {sys.executable} cannot load the Python package of Baton: {error}\n"
             "  try: pip install . in the sources of Baton, or PYTHON=... for the Python that has the package")
sys.exit(main())
)";

}  // namespace

TestCommand::TestCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("test", "Run tests of kernels, packed onto devices, each in a process of its own.");
  app_->allow_extras();
  app_->set_help_flag();  // the runner has its own
  app_->prefix_command();
}

int TestCommand::run(const std::vector<std::string>& after_dashes) {
  std::vector<std::string> words = {"-c", kRunner};
  for (const std::string& word : app_->remaining()) words.push_back(word);
  words.insert(words.end(), after_dashes.begin(), after_dashes.end());
  become_python(std::move(words));
}

}  // namespace baton::cli
