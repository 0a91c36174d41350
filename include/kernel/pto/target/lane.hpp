// Which of the lanes of a core: pto/target/lanes.hpp.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>

namespace baton::kernel {

/// Which lane this is, and how many there are: for (i = lane; i < n; i += count).
struct Lanes {
  uint32_t lane;
  uint32_t count;
};

/// What lanes write: tiles, which only their core reads, or memory, too, from which engines of all cores may copy next.
enum class LanesWrite : uint8_t { tiles, memory };

/// What the body of an instruction may take along to its lanes.
inline constexpr uint32_t kClosureBytes = 176;

#if defined(__CUDACC__)
/// Defined in pto/target/cuda/lanes.hpp. Waits for what lanes were given and nobody has waited for: for an instruction
/// that touches Vec in another way.
__device__ void settle_lanes();
#else
inline void settle_lanes() {}
#endif

}  // namespace baton::kernel
