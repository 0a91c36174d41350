// The C++ compiler of this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "kernel/cache.hpp"

namespace baton::kernel {

enum class CompilerFamily { gcc, clang };

struct Compiler {
  /// The program, as an absolute path, and the words that BATON_CXX puts behind it.
  std::vector<std::string> words;
  /// The first line of what it says to --version.
  std::string version;
  CompilerFamily family = CompilerFamily::gcc;
  /// Changes when the compiler does: paths, sizes and times of its files, and what it says to --version.
  std::string identity;
};

/// The compiler that `wish` (BATON_CXX) names, or the first of c++, g++ and clang++ in the folders of `search_path`
/// (PATH). What it says to --version is remembered in the cache. Throws Error (unsupported) if there is none.
[[nodiscard]] Compiler find_compiler(const std::optional<std::string>& wish, const std::string& search_path,
                                     const Cache& cache, const Deadline& deadline);

/// Whether there is a file of this name, as far as this process can see.
[[nodiscard]] bool is_there(const std::filesystem::path& path);

/// The environment of this process as a compiler gets it: messages in English, temporary files in `work`.
[[nodiscard]] std::vector<std::string> compiler_environment(const std::string& work);

/// Those variables of the environment that change what a compiler makes of the same words.
[[nodiscard]] std::vector<std::string> meaningful_variables();

}  // namespace baton::kernel
