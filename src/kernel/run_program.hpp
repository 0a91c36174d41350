// Running another program to its end, from a process with threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"

namespace baton::kernel {

struct ProgramCall {
  std::vector<std::string> arguments;    ///< The first is the path of the program.
  std::vector<std::string> environment;  ///< Entries of the form NAME=value: all that the program sees.
};

struct ProgramEnd {
  enum class How { ended, timed_out };
  How how = How::ended;
  /// In the form of waitpid(); nothing if somebody else in this process took it.
  std::optional<int> status;
  /// Standard output and standard error, as they came.
  std::string output;
  /// What was written beyond what `output` may hold.
  std::size_t dropped_bytes = 0;
};

/// Runs the program with an empty standard input, in a process group of its own. At the deadline the whole group is
/// killed. Throws Error (launch_failed) if it cannot be started.
[[nodiscard]] ProgramEnd run_program(const ProgramCall& call, const Deadline& deadline);

}  // namespace baton::kernel
