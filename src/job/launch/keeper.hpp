// The keeper: a small process that ends the ranks when their launcher is killed.
//
// A launcher that gets SIGKILL can clean nothing up. The kernel then kills the ranks themselves (PR_SET_PDEATHSIG), but
// not what they started. The keeper holds the other end of a pipe: when the launcher is gone, however that happened,
// the pipe ends, and the keeper kills the process groups of the ranks and whatever carries the name of the job.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/unique_fd.hpp"

namespace baton::job {

class Keeper {
 public:
  /// Forks the keeper. `job` is the value of BATON_JOB in the ranks. Call before any rank exists.
  explicit Keeper(const std::string& job);
  /// Nothing is left to end: the keeper is not needed any more.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// The pipe to the keeper, for remember().
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }

  /// Puts a process group into the keeper's care. A rank does so itself between fork and exec: there is then no moment
  /// in which it runs and the keeper does not know it. Async-signal-safe.
  static void remember(int fd, pid_t group) noexcept;
  /// The group is gone; its number may come back as another's.
  void forget(pid_t group) noexcept;

 private:
  pid_t pid_ = -1;
  UniqueFd pipe_;
};

}  // namespace baton::job
