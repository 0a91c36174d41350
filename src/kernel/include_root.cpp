#include "kernel/include_root.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "base/fail.hpp"

namespace baton::kernel {
namespace {

constexpr const char* kMark = "baton/kernel_library.hpp";

bool has_mark(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / kMark, ignored);
}

/// The library or program that this function is part of.
std::string path_of_this_module() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&path_of_this_module), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  // For the program the loader knows only what it was called as.
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto named = std::filesystem::weakly_canonical(info.dli_fname, error);
  if (std::filesystem::exists(named, error)) return named.string();
  return program.string();
}

}  // namespace

std::optional<std::string> include_root_near(const std::string& module_path, const std::string& source_dir) {
  const auto folder = std::filesystem::path(module_path).parent_path();
  // Beside bin/ or lib/, beside lib/TRIPLET/, and inside the folder of a Python package.
  for (const char* place : {"../share/baton/include", "../../share/baton/include", "include"}) {
    const auto candidate = (folder / place).lexically_normal();
    if (!module_path.empty() && has_mark(candidate)) return candidate.string();
  }
  if (!source_dir.empty() && has_mark(source_dir)) return source_dir;
  return std::nullopt;
}

std::string find_include_root(const std::optional<std::string>& override_dir) {
  if (override_dir) {
    if (has_mark(*override_dir)) return std::filesystem::absolute(*override_dir).string();
    throw Error(Code::unsupported,
                fmt::format("there is no {} in {}, which BATON_INCLUDE_DIR names", kMark, *override_dir));
  }
  const std::string module = path_of_this_module();
  if (auto root = include_root_near(module, BATON_SOURCE_INCLUDE_DIR)) return *std::move(root);
  throw Error(Code::unsupported, "the headers of kernels are missing",
              {fmt::format("looked for share/baton/include near {}", module),
               "BATON_INCLUDE_DIR names the folder that has baton/ and kernel/"});
}

}  // namespace baton::kernel
