// Where the headers of kernels are.
#pragma once

#include <optional>
#include <string>

namespace baton::kernel {

/// The folder that has `baton/` and `kernel/`: `override_dir`, or that which lies at its place beside the running
/// library or program, or that of the source tree this was built from. Throws Error (unsupported) if there is none.
[[nodiscard]] std::string find_include_root(const std::optional<std::string>& override_dir);

/// The same for a library or program at `module_path`. `source_dir` may be empty.
[[nodiscard]] std::optional<std::string> include_root_near(const std::string& module_path,
                                                           const std::string& source_dir);

}  // namespace baton::kernel
