// Reading whole files: those in which the kernel describes itself, sources, tables.
#pragma once

#include <optional>
#include <string>

namespace baton {

/// The whole content of the file, or nothing, with errno, if it cannot be opened or read. What need not end is not read
/// to its end: nothing is read of a device (ENODEV), and of a pipe at most 64 MiB (EFBIG).
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& path);

}  // namespace baton
