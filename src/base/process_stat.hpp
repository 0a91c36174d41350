// What /proc/PID/stat says about a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace baton {

struct ProcessStat {
  char state;                ///< R, S, D, T, Z ...: the state of the first thread.
  std::int64_t threads;      ///< How many threads have not ended; 1 for a zombie.
  std::uint64_t start_time;  ///< Clock ticks since the machine started. A pid and its start time are unique.
  int exit_code;             ///< In the form of waitpid(); 0 also while it runs and where it may not be read.

  /// Whether every thread has ended. A first thread that ended before the others is shown as a zombie too.
  [[nodiscard]] bool ended() const noexcept { return (state == 'Z' || state == 'X' || state == 'x') && threads <= 1; }
};

/// Reads the one line of a stat file, or nothing if it has another form.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// Nothing if there is no such process, or none that this one may see.
[[nodiscard]] std::optional<ProcessStat> read_process_stat(std::uint32_t pid);

}  // namespace baton
