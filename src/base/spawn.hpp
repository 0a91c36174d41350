// Starting another program from a process with threads: posix_spawn(), which makes no copy of this process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace baton {

struct SpawnCommand {
  std::string program;                   ///< A path.
  std::vector<std::string> arguments;    ///< The first is the name that the program goes by.
  std::vector<std::string> environment;  ///< Entries of the form NAME=value: all that the program sees.
  /// Which of this process become 0, 1, 2 ... of the program; it gets no others. kNothing, and one that is closed here,
  /// is /dev/null.
  std::vector<int> descriptors;

  static constexpr int kNothing = -1;
};

/// Starts it in a process group of its own, with no signal blocked or ignored. Throws Error (launch_failed).
[[nodiscard]] pid_t spawn(const SpawnCommand& command);

/// As exec wants them: pointers to the texts, then null. For as long as `texts` lives.
[[nodiscard]] std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

}  // namespace baton
