// What the compiler read and wrote, for each state of the included files that a source was compiled with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/content_hash.hpp"
#include "kernel/file_stamp.hpp"

namespace baton::kernel {

/// One compilation: it gives the same library again as long as the included files have the same content.
struct Compilation {
  std::string library;  ///< The name of the file in the cache.
  std::uint64_t library_bytes = 0;
  ContentHash library_hash;
  std::vector<HashedFile> included;
};

/// One line for the library, one for each included file.
[[nodiscard]] std::string write_compilation(const Compilation& compilation);

/// Takes the first compilation from `text`; nothing at its end or where it makes no sense.
[[nodiscard]] std::optional<Compilation> take_compilation(std::string_view& text);

/// A manifest with `newest` in front of those that `before` has, as many as a manifest holds, none twice.
[[nodiscard]] std::string with_compilation(const Compilation& newest, std::string_view before);

}  // namespace baton::kernel
