// The reference pages that are written from tables: docs/reference/errors.md and docs/reference/options.md.
#pragma once

#include <string>

namespace baton {

[[nodiscard]] std::string error_page();
[[nodiscard]] std::string options_page();

}  // namespace baton
