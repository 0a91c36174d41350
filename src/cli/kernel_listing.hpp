// The kernels of libraries, for people: baton compile --list.
#pragma once

#include <string>

#include "kernel/library.hpp"

namespace baton::cli {

/// One line for each kernel, indented: what it takes, its core, where it was written.
[[nodiscard]] std::string list_kernels(const kernel::KernelLibrary& library);

/// Whether `path` is a library and no source.
[[nodiscard]] bool is_library_path(const std::string& path);

}  // namespace baton::cli
