// What files of the stand-in tell each other about memory.
#pragma once

#include <cstddef>

namespace standin {

/// Whether these bytes lie in one mapping of physical memory. With the state's lock.
[[nodiscard]] bool is_mapped(const std::byte* begin, std::size_t bytes);

}  // namespace standin
