#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/text_file.hpp"
#include "cli/command.hpp"
#include "cli/python_program.hpp"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;

/// The harness as a program: its folder is the first argument, what follows is its command line.
constexpr const char* kHarness = R"(
import sys
sys.path.insert(0, sys.argv.pop(1))
from harness.cli import main
sys.exit(main(program="baton bench"))
)";

constexpr const char* kNoSources =
    R"(the benchmarks belong to the sources of Baton, and there are none: this program lies in no build directory of them,
  nor does the current directory lie in them
  try: baton bench in the folder of the sources, which builds what it measures in build/)";

/// The benchmarks of a source tree, and the build directory to measure with if it is not the usual one of the tree.
struct Harness {
  fs::path folder;
  std::optional<fs::path> build_dir;
};

std::optional<fs::path> benchmarks_in(const fs::path& tree) {
  std::error_code ignored;
  fs::path folder = tree / "bench";
  if (!fs::exists(folder / "harness" / "cli.py", ignored)) return std::nullopt;
  return folder;
}

/// The source tree that a build directory belongs to, as CMake noted it there.
std::optional<fs::path> source_of(const fs::path& build_dir) {
  constexpr std::string_view kKey = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
  const auto cache = read_text_file((build_dir / "CMakeCache.txt").string());
  if (!cache) return std::nullopt;
  const auto found = cache->find(kKey);
  if (found == std::string::npos) return std::nullopt;
  const auto first = found + kKey.size();
  return cache->substr(first, cache->find('\n', first) - first);
}

/// Of the tree that this program was built from; else of the one that the current directory lies in.
std::optional<Harness> find_harness() {
  std::error_code ignored;
  const fs::path build_dir = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  if (const auto source = source_of(build_dir)) {
    if (auto folder = benchmarks_in(*source)) return Harness{*std::move(folder), build_dir};
  }
  for (fs::path place = fs::current_path(ignored); !place.empty(); place = place.parent_path()) {
    if (auto folder = benchmarks_in(place)) return Harness{*std::move(folder), std::nullopt};
    if (place == place.root_path()) break;
  }
  return std::nullopt;
}

}  // namespace

BenchCommand::BenchCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("bench", "Measure Baton beside its peers and the floor of this machine.");
  app_->allow_extras();
  app_->set_help_flag();  // the harness has its own
  app_->prefix_command();
}

int BenchCommand::run(const std::vector<std::string>& after_dashes) {
  const auto harness = find_harness();
  if (!harness) {
    fmt::print(stderr, "baton: {}\n", kNoSources);
    return kExitNotStarted;
  }
  std::vector<std::string> words = {"-c", kHarness, harness->folder.string()};
  // The last one counts: --build-dir of the command line stands behind.
  if (harness->build_dir) words.insert(words.end(), {"--build-dir", harness->build_dir->string()});
  for (const std::string& word : app_->remaining()) words.push_back(word);
  words.insert(words.end(), after_dashes.begin(), after_dashes.end());
  become_python(std::move(words));
}

}  // namespace baton::cli
