// Runs something as `baton check` does, and looks for its races.
#pragma once

#include <functional>
#include <string>

#include "check/check_trace.hpp"

namespace baton::test {

/// The races of what `body` does in this process. An exception that it throws is `failure`.
struct Recorded {
  check::TraceFindings findings;
  std::string failure;

  [[nodiscard]] std::string text() const;
};
[[nodiscard]] Recorded record(const std::function<void()>& body);

}  // namespace baton::test
