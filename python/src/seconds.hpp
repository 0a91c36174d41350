// Times, which are seconds in Python.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include <baton/error.hpp>

namespace baton::python {

/// Nothing for None. Throws Error (invalid_argument) if it is negative or not a number.
[[nodiscard]] inline std::optional<std::chrono::nanoseconds> nanoseconds_of(std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  if (!(*seconds >= 0)) throw Error(Code::invalid_argument, "a timeout cannot be negative");
  constexpr double kMost = 1e9;  // 31 years
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(std::min(*seconds, kMost)));
}

}  // namespace baton::python
