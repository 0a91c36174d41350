// Whether a process still lives, and being told when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"

namespace baton {

/// A process, told apart from later ones that get the same pid. May lie in memory that several processes share.
struct ProcessId {
  std::uint32_t pid;
  std::uint64_t start_time;  ///< Clock ticks since the machine started (field 22 of /proc/PID/stat).

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

[[nodiscard]] ProcessId this_process();

/// Nothing if there is no such process, or none that this one may see.
[[nodiscard]] std::optional<std::uint64_t> process_start_time(std::uint32_t pid);

/// A zombie is dead, and so is a process whose pid belongs to another one now.
[[nodiscard]] bool is_alive(ProcessId process);

/// Tells when one process ends. Any thread may ask; the object itself is moved and destroyed by one.
class DeathWatch {
 public:
  enum class Mechanism : std::uint8_t {
    automatic,  ///< pidfd where the kernel offers it and permits it, else polling.
    pidfd,      ///< Throws Error (unsupported) where there is none.
    polling,
  };

  /// A process that is gone already, or whose pid belongs to another one, counts as ended at once.
  explicit DeathWatch(ProcessId process, Mechanism mechanism = Mechanism::automatic);

  /// Readable for poll() and epoll once the process has ended; never read from it. -1: there is no such descriptor, and
  /// the owner calls ended() at least every poll_interval().
  [[nodiscard]] int fd() const noexcept { return pidfd_ ? pidfd_.get() : readable_.get(); }

  [[nodiscard]] bool ended() const;
  [[nodiscard]] ProcessId process() const noexcept { return process_; }
  [[nodiscard]] static constexpr std::chrono::milliseconds poll_interval() noexcept {
    return std::chrono::milliseconds(10);
  }

 private:
  friend std::optional<int> exit_status_of(const DeathWatch& watch);
  void open_pidfd(Mechanism mechanism);
  void become_readable();

  ProcessId process_;
  UniqueFd pidfd_;
  /// Stands in for the pidfd when the process was gone before one could be opened. Always readable.
  UniqueFd readable_;
};

/// How the process ended, in the form of waitpid(), or nothing: it still runs, or the kernel does not tell. For a
/// process that is not a child of this one: while it is a zombie, only a failure; once reaped, from Linux 6.15 on.
[[nodiscard]] std::optional<int> exit_status_of(const DeathWatch& watch);
/// The wait status of a child of this process that has ended, which is left to be reaped.
[[nodiscard]] std::optional<int> status_of_child(std::uint32_t pid) noexcept;

/// "exit code 3", "SIGKILL", "SIGSEGV (core dumped)".
[[nodiscard]] std::string describe_wait_status(int status);

}  // namespace baton
