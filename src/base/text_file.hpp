// Reading the small text files in which the kernel describes itself.
#pragma once

#include <optional>
#include <string>

namespace baton {

/// The whole content of the file, or nothing if it cannot be opened or read.
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& path);

}  // namespace baton
