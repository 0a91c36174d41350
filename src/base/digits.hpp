// Decimal digits, whatever the locale.
#pragma once

namespace baton {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace baton
