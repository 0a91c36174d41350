// Whether there is a GPU to test on.
#pragma once

#include <optional>
#include <string>

#include <baton/chip.hpp>
#include <baton/error.hpp>

namespace baton::test {

/// Why there is none; nothing if there is one.
inline const std::optional<std::string>& missing_gpu() {
  static const std::optional<std::string> why = []() -> std::optional<std::string> {
    try {
      const Chip chip({.platform = "cuda"});
      return std::nullopt;
    } catch (const Error& error) {
      return error.what();
    }
  }();
  return why;
}

}  // namespace baton::test
