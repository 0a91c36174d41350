// Kernels from source, at run time.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <baton/options.hpp>
#include <baton/source_form.hpp>

namespace baton::kernel {

/// What a kernel runs on. `cluster`: on an Ascend chip, all three cores of one; on the host it is for vector cores.
enum class CoreType { vector, cube, cluster };

/// Whose instructions a library may use: those of the processor it is compiled on, or what all of its kind have.
enum class Target { this_processor, any_processor };

struct CompileRequest {
  /// The path of the source file; if `text` is given, only the name that messages show.
  std::string source;
  std::optional<std::string> text;
  CoreType core = CoreType::vector;  ///< Of kernels.
  SourceForm form = SourceForm::kernels;
  Target target = Target::this_processor;
  /// "cuda", "a2a3", "a5": the library also has code for NVIDIA GPUs or Ascend chips. Empty, or a simulated one: for
  /// the host alone.
  std::string platform{};
  std::vector<std::string> include_dirs;
  std::vector<std::string> defines;  ///< NAME or NAME=value.
  std::vector<std::string> flags;    ///< For the compiler, as they are.
  bool debug = false;                ///< For a debugger: -O0 -g.
};

enum class Origin { compiled, cache };

struct CompiledKernel {
  std::string library;  ///< The path of the library, inside the cache.
  Origin origin = Origin::compiled;
  std::chrono::nanoseconds duration{};
  std::string messages;  ///< What the compiler said although it succeeded: warnings. Empty from the cache.
};

/// Compiles, or finds in the cache. Among all processes that ask for the same, one compiles and the others wait for it.
/// Any thread. Throws Error: compile_failed with the compiler's messages, unsupported without a compiler.
[[nodiscard]] CompiledKernel compile(const CompileRequest& request, const Options& options = baton::options());

}  // namespace baton::kernel
