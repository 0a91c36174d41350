// Which Baton this is.
#pragma once

#include <string>
#include <string_view>

namespace baton::cli {

/// "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

/// The version, the commit and compiler it was built with, and the platforms that are installed; a line each.
[[nodiscard]] std::string describe_version();

}  // namespace baton::cli
