// Finds the races of a recorded run, and tells of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton::check {

struct TraceFindings {
  struct Report {
    /// The two places and what they do: the same in every run of a program.
    std::string key;
    /// One line, and further ones that begin with two spaces.
    std::string text;
  };
  std::vector<Report> races;
  std::uint64_t events = 0;
  std::uint64_t accesses = 0;
};

/// Throws Error (system, protocol).
[[nodiscard]] TraceFindings check_trace(const std::string& path);

}  // namespace baton::check
