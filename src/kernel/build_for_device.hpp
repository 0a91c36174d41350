// The code of a device that becomes a part of a kernel library.
#pragma once

#include <chrono>
#include <string>

#include "kernel/build.hpp"
#include "kernel/run_program.hpp"
#include "kernel/work_folder.hpp"

namespace baton::kernel {

/// Compilers that run for one library, and what they say.
class CompilerRuns {
 public:
  CompilerRuns(const Recipe& recipe, ContentHash key, const Cache& cache, const WorkFolder& work,
               std::chrono::nanoseconds timeout)
      : recipe_(recipe), key_(key), cache_(cache), work_(work), timeout_(timeout) {}

  /// Throws Error (compile_failed) unless it makes `output`.
  void run(const Compiler& compiler, const ProgramCall& call, const std::string& output);

  [[nodiscard]] const Recipe& recipe() const noexcept { return recipe_; }
  [[nodiscard]] const WorkFolder& work() const noexcept { return work_; }
  [[nodiscard]] const std::string& messages() const noexcept { return messages_; }

 private:
  const Recipe& recipe_;
  ContentHash key_;
  const Cache& cache_;
  const WorkFolder& work_;
  std::chrono::nanoseconds timeout_;
  std::string messages_;
};

/// Makes `library` of `source`, with the code of the device that the recipe names in it. `host` is the call that would
/// make it without. Returns the file that lists what the device's compiler has read.
[[nodiscard]] std::string build_for_device(CompilerRuns& runs, const ProgramCall& host, const std::string& source,
                                           const std::string& library);

}  // namespace baton::kernel
