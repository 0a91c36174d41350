// Functions on their way to another process that has loaded the same files at other addresses.
#pragma once

#include <cstdint>
#include <string>

namespace baton::node {

/// A place in a loaded file.
struct CodeAddress {
  std::string file;  // empty: the program itself
  std::uint64_t offset = 0;
};

/// Where `address` lies. Throws Error (invalid_argument) if it is in no loaded file.
[[nodiscard]] CodeAddress find_code(const void* address);

/// The same place in this process; loads the file if need be. Throws Error (launch_failed) if that fails.
[[nodiscard]] void* load_code(const CodeAddress& place);

/// The folder and the name of the file that holds `address`, links resolved.
[[nodiscard]] std::string file_of(const void* address);

}  // namespace baton::node
