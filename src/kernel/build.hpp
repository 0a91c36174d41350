// One run of the compiler.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/cache.hpp"
#include "kernel/compile.hpp"
#include "kernel/compiler.hpp"

namespace baton::kernel {

/// Changes when a library that an older Baton made from the same recipe should not be found any more.
inline constexpr std::string_view kRecipeVersion = "3";

/// The same source for a device.
struct DeviceRecipe {
  std::string platform;
  Compiler compiler;
  std::vector<std::string> flags;
  CoreType core;
};

/// All that decides what comes out, but for the content of included files.
struct Recipe {
  std::string source;  ///< An absolute path, or the name of a text.
  bool from_text = false;
  std::string text;
  std::string stem;
  Compiler compiler;
  std::vector<std::string> flags;
  std::string processor;  ///< Which one the library is for; empty if it is for any.
  std::optional<DeviceRecipe> device;
  std::optional<std::string> bodies;  ///< An object to link; the library is the same without it.
};

/// Without `.` and `..`.
[[nodiscard]] std::string absolute(const std::string& path);

/// `processor` as in a recipe.
[[nodiscard]] std::vector<std::string> compiler_flags(const CompileRequest& request, const Compiler& compiler,
                                                      const std::string& processor, const std::string& include_root);

/// Equal for equal results, as far as included files stay what they are.
[[nodiscard]] ContentHash key_of(const Recipe& recipe, const CompileRequest& request);

struct Built {
  std::string library;
  std::string messages;
};

/// Compiles and puts the library into the cache. Throws Error (compile_failed).
[[nodiscard]] Built build(const Recipe& recipe, ContentHash key, const Cache& cache, std::chrono::nanoseconds timeout);

}  // namespace baton::kernel
