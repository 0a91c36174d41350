// Where what a check records lies until it is analysed.
#pragma once

#include <filesystem>

namespace baton::check {

/// What TMPDIR says; else memory, where writing costs a tenth of what it costs on a disk, if there is much of it.
[[nodiscard]] std::filesystem::path recording_folder();

}  // namespace baton::check
