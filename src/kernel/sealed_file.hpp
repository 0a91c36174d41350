// Small files whose damage is noticed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernel/content_hash.hpp"
#include "kernel/work_folder.hpp"

namespace baton::kernel {

/// Makes `path` a file with `text` and a checksum of the text and the key, at once: others see the file before or the
/// file after. `work` is in the same file system.
void write_sealed(const WorkFolder& work, const std::string& path, ContentHash key, std::string_view text);

/// The text that was written for `key`. Nothing: no such file, not as it was written, written for another key, or not
/// this user's alone.
[[nodiscard]] std::optional<std::string> read_sealed(const std::string& path, ContentHash key);

/// Writes a file as it is. Throws Error (system).
void write_file(const std::string& path, std::string_view text);

/// Gives a finished file its place, at once. Throws Error (system).
void put_in_place(const std::string& from, const std::string& to);

}  // namespace baton::kernel
