// What must be told when frames are left by a jump, not by returning.
#pragma once

#include <cstddef>

// A file that is itself compiled without the sanitizer says BATON_FIBER_ASAN (src/base/CMakeLists.txt): all of a
// program must see the same function.
#if defined(BATON_FIBER_ASAN)
#define BATON_FRAMES_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BATON_FRAMES_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define BATON_FRAMES_ASAN 1
#endif
#if defined(BATON_FRAMES_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace baton {

/// After a jump: the frames from `lowest` (the stack pointer of the deepest one) up to `highest` are gone. The address
/// sanitizer marks bytes around a frame's variables when it begins and unmarks them when it returns, which these never
/// do; the next frames at the same place would be taken for overflows.
inline void forget_frames([[maybe_unused]] const void* lowest, [[maybe_unused]] const void* highest) noexcept {
#if defined(BATON_FRAMES_ASAN)
  const auto* low = static_cast<const char*>(lowest);
  const auto* high = static_cast<const char*>(highest);
  if (low < high) __asan_unpoison_memory_region(low, static_cast<std::size_t>(high - low));
#endif
}

}  // namespace baton
