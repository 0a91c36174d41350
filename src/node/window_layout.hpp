// Where the buffers of a domain lie in the window that every member has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <baton/node_domain.hpp>

namespace baton::node {

struct WindowLayout {
  struct Placed {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // kept for it, of which the elements come first
    std::size_t count = 0;    // of elements
  };
  std::vector<Placed> buffers;  // as they were specified
  std::uint64_t bytes = 0;      // of the window
};

/// Each buffer on a cache line of its own, one after the other. `window_bytes` 0: as many as they need. Throws Error:
/// invalid_argument for a buffer that cannot be, out_of_memory if the window is too small.
[[nodiscard]] WindowLayout lay_out(std::string_view domain, std::span<const CommBufferSpec> buffers,
                                   std::size_t window_bytes);

}  // namespace baton::node
