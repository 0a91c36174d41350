// The process groups of the compilers that run now, for a signal handler.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>

namespace baton::kernel {

/// While it lives, this thread starts a group that is not listed yet: kill_running_groups() waits for it to be listed,
/// and no handler runs on this thread.
class StartingGroup {
 public:
  StartingGroup() noexcept;
  ~StartingGroup();
  StartingGroup(const StartingGroup&) = delete;
  StartingGroup& operator=(const StartingGroup&) = delete;

 private:
  sigset_t mask_before_;
};

/// Lists the group for as long as it lives. It must end before the group's leader is reaped: the number would name
/// somebody else's then.
class RunningGroup {
 public:
  explicit RunningGroup(pid_t group) noexcept;
  ~RunningGroup() { finish(); }
  RunningGroup(const RunningGroup&) = delete;
  RunningGroup& operator=(const RunningGroup&) = delete;
  void finish() noexcept;

 private:
  std::atomic<pid_t>* slot_ = nullptr;
};

/// Kills the compilers that run now. For handlers of signals that end the process: compilers have groups of their own,
/// so that what a terminal sends to this process does not reach them.
void kill_running_groups() noexcept;

}  // namespace baton::kernel
