// What this process uses.
#pragma once

#include <cstdint>

namespace baton::test {

struct ProcessMemory {
  std::uint64_t virtual_bytes;   // VmSize
  std::uint64_t resident_bytes;  // VmRSS
};

[[nodiscard]] ProcessMemory process_memory();

/// How many file descriptors are open.
[[nodiscard]] int open_descriptors();

}  // namespace baton::test
