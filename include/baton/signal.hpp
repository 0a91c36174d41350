// What can be done to a signal, and what can be waited for.
#pragma once

#include <cstdint>

namespace baton {

/// How notify changes a signal.
enum class NotifyOp : std::uint8_t { add, set };

/// What wait and test compare: `signal CMP value`, signed; also what a task may be run on.
enum class WaitCmp : std::uint8_t { eq, ne, gt, ge, lt, le };

/// Whose departure makes a wait hopeless.
enum class Needed : std::uint8_t { owner, every_member };

[[nodiscard]] constexpr bool holds(std::int64_t signal, WaitCmp comparison, std::int64_t value) noexcept {
  switch (comparison) {
    case WaitCmp::eq: return signal == value;
    case WaitCmp::ne: return signal != value;
    case WaitCmp::gt: return signal > value;
    case WaitCmp::ge: return signal >= value;
    case WaitCmp::lt: return signal < value;
    case WaitCmp::le: return signal <= value;
  }
  return false;
}

/// "==", ">=": for messages.
[[nodiscard]] constexpr const char* symbol_of(WaitCmp comparison) noexcept {
  switch (comparison) {
    case WaitCmp::eq: return "==";
    case WaitCmp::ne: return "!=";
    case WaitCmp::gt: return ">";
    case WaitCmp::ge: return ">=";
    case WaitCmp::lt: return "<";
    case WaitCmp::le: return "<=";
  }
  return "?";
}

}  // namespace baton
