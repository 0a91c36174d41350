// Small files whose damage is noticed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernel/work_folder.hpp"

namespace baton::kernel {

/// Makes `path` a file with `text` and its checksum, at once: others see the file before or the file after. `work` is
/// in the same file system.
void write_sealed(const WorkFolder& work, const std::string& path, std::string_view text);

/// The text, or nothing: no such file, or not as it was written.
[[nodiscard]] std::optional<std::string> read_sealed(const std::string& path);

/// Writes a file as it is. Throws Error (system).
void write_file(const std::string& path, std::string_view text);

/// Gives a finished file its place, at once. Throws Error (system).
void put_in_place(const std::string& from, const std::string& to);

}  // namespace baton::kernel
