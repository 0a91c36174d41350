// Which threads of a process sleep.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace baton {

/// A thread that sleeps until something happens.
struct SleepingThread {
  pid_t thread = 0;
  /// How often it has given its processor away, or lost it: equal in two looks if it has not run in between. 0 where
  /// the system does not count.
  std::uint64_t switches = 0;

  bool operator==(const SleepingThread&) const = default;
};

/// Appends all threads of `pid` but `except`. False if one of them does not sleep: it runs, waits for a processor or
/// for a disk, or is stopped; or if it cannot be told.
[[nodiscard]] bool append_sleeping_threads(pid_t pid, pid_t except, std::vector<SleepingThread>& threads);

/// Reads /proc/PID/task/TID/status: how often a thread that sleeps was switched; nothing if it does not sleep.
[[nodiscard]] std::optional<std::uint64_t> switches_of_sleeper(std::string_view status);

}  // namespace baton
