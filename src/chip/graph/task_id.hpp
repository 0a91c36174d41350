// Names of tasks.
#pragma once

#include <cstdint>

namespace baton::graph {

/// 1, 2, 3 ... in the order of submission; 0: none.
using TaskId = std::uint64_t;

enum class Use : std::uint8_t { read, write, read_write };

}  // namespace baton::graph
