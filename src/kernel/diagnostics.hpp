// What of a compiler's messages a person should see first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::kernel {

struct Diagnosis {
  int errors = 0;
  std::vector<std::string> lines;  ///< The first errors, each with the line it is about and how the author came there.
  int lines_cut = 0;
};

/// `source` is the author's file as the compiler calls it: errors in it come first, and of the places through which a
/// template was reached, those in it are kept.
[[nodiscard]] Diagnosis diagnose(std::string_view output, std::string_view source);

}  // namespace baton::kernel
