// Which file a program's name means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::job {

/// The file that execvp() would run for `program`: itself if it holds a slash, else the first match in `search_path`
/// (directories between colons; an empty one is the current directory). Throws Error (launch_failed) that says why
/// there is none: no such file, a directory, no permission.
[[nodiscard]] std::string find_program(const std::string& program, std::string_view search_path);

/// What PATH says in `environment` (NAME=value); without one, the system's usual directories.
[[nodiscard]] std::string search_path(const std::vector<std::string>& environment);

}  // namespace baton::job
