// The signals of the launcher while a job runs.
#pragma once

#include <signal.h>

#include <optional>

#include "base/unique_fd.hpp"

namespace baton::job {

/// While it exists, the signals that the launcher forwards, and SIGCHLD, arrive on a descriptor; SIGPIPE is ignored.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// Readable when a signal has come.
  [[nodiscard]] int fd() const noexcept { return signals_.get(); }
  /// The number of a signal that came, or nothing. Never blocks.
  [[nodiscard]] std::optional<int> next();
  /// Whether the program that started this one had it ignored.
  [[nodiscard]] bool was_ignored(int number) const;

  /// In a child, before exec: as it was before this object existed. Async-signal-safe.
  void restore() const noexcept;

 private:
  UniqueFd signals_;
  sigset_t old_mask_;
  struct sigaction old_pipe_;
  struct sigaction old_child_;
};

}  // namespace baton::job
