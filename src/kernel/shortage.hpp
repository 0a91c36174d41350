// Whether a compiler failed for want of room, and not because of what it compiled.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <baton/error.hpp>

namespace baton::kernel {

/// Of a compilation of `source` that failed with `output`, whose files are in `folder`: an error that says what is
/// full. Nothing if nothing is.
[[nodiscard]] std::optional<Error> shortage(std::string_view source, std::string_view output,
                                            const std::string& folder);

}  // namespace baton::kernel
