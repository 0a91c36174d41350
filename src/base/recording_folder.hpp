// Where what is recorded lies until somebody else has taken it.
#pragma once

#include <filesystem>

namespace baton {

/// What TMPDIR says; else memory, where writing costs a tenth of what it costs on a disk, if there is much of it.
[[nodiscard]] std::filesystem::path recording_folder();

}  // namespace baton
