#include "cli/version.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shared_library.hpp"

namespace baton::cli {

/// In a file that the build writes (cmake/WriteCommit.cmake): all that has to be compiled for a new commit.
extern const char* const kCommit;

namespace {

/// Other libraries of Baton, such as that for PyTorch, have names of the same form.
bool is_platform(const std::filesystem::path& library) {
  try {
    return SharedLibrary(library.string(), Code::unsupported).find("baton_platform_version") != nullptr;
  } catch (const Error&) {
    return false;  // it needs something that is not here; `baton doctor` says of platforms what that is
  }
}

/// Those whose libraries lie where programs of this installation find them.
std::vector<std::string> installed_platforms() {
  constexpr std::string_view kPrefix = "libbaton_";
  constexpr std::string_view kSuffix = ".so";
  std::error_code ignored;
  const auto root = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  std::set<std::string> names;
  for (const std::filesystem::path& folder : {root / "lib", root / BATON_LIBRARY_FOLDER}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix) || !is_platform(entry)) continue;
      names.insert(file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size()));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

std::string_view version() noexcept { return BATON_VERSION; }

std::string describe_version() {
  const std::vector<std::string> platforms = installed_platforms();
  return fmt::format("baton {}\ncommit     {}\ncompiler   {}\nplatforms  {}", version(), kCommit, BATON_COMPILER,
                     platforms.empty() ? "none is installed" : fmt::format("{}", fmt::join(platforms, ", ")));
}

}  // namespace baton::cli
