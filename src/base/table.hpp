// Text in columns.
#pragma once

#include <string>
#include <vector>

namespace baton {

/// Rows of cells, each column as wide as its widest cell, two spaces apart. The first row is the heading.
[[nodiscard]] std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace baton
