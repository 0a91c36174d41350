#include "cli/python_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "base/text_file.hpp"

namespace baton::cli {
namespace {

/// A program of the build tree has the package beside its folder. Makes it known, and returns the Python that it was
/// built for; nothing for other programs.
std::optional<std::string> offer_package_of_build_tree() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto folder = program.parent_path().parent_path() / "python";
  if (!std::filesystem::exists(folder / "baton" / "__init__.py", ignored)) return std::nullopt;
  const char* present = std::getenv("PYTHONPATH");
  const std::string path = present == nullptr ? folder.string() : folder.string() + ":" + present;
  ::setenv("PYTHONPATH", path.c_str(), 1);
  return read_text_file((folder / "interpreter").string());
}

}  // namespace

void become_python(std::vector<std::string> words) {
  const char* given = std::getenv("PYTHON");
  const auto of_build_tree = offer_package_of_build_tree();
  const std::string python = given != nullptr ? given : of_build_tree.value_or("python3");
  words.insert(words.begin(), python);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int reason = errno;
  fail(Situation::no_python, "{} cannot be started: {}", quote(python), std::strerror(reason));
}

}  // namespace baton::cli
