// A place in the source of the caller.
#pragma once

#include <cstdint>

namespace baton {

/// As a default argument, `Place::here()` is the place of the call. (clang 14 has no std::source_location.)
struct Place {
  const char* file = "";
  std::uint32_t line = 0;  // 0: not known

  [[nodiscard]] static constexpr Place here(const char* file = __builtin_FILE(),
                                            std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace baton
