// The files of a cache, by age.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace baton::kernel {

/// The folders of a cache. Work folders come and go with compilers; files in the others may vanish at any time.
inline constexpr std::array<std::string_view, 5> kCacheFolders = {"libraries", "manifests", "logs", "compilers",
                                                                  "work"};

/// Makes the file one of the youngest, if it was not used within the last minute.
void mark_used(const std::string& path) noexcept;

}  // namespace baton::kernel
