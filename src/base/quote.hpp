// Text from outside, as messages show it.
#pragma once

#include <string>
#include <string_view>

namespace baton {

/// `text` with each byte that is not printable ASCII written as \xNN, so that one byte never moves the cursor oddly.
[[nodiscard]] std::string printable(std::string_view text);

/// printable(`text`) in double quotes; a long text is cut and ends with three dots.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace baton
