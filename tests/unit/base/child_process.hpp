// Processes made for a test.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/liveness.hpp"

namespace baton {

/// A child that runs `body` and then exits with what it returns. Killed and reaped at the end at the latest.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<int()>& body);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// A child that sleeps until it is killed.
  static int sleep_forever();

  [[nodiscard]] ProcessId id() const noexcept { return id_; }
  void kill(int signal) const;
  /// Blocks until the child has ended, and leaves it a zombie.
  void wait_until_zombie() const;
  /// Blocks until the child has ended and reaps it. Returns its wait status.
  int reap();

 private:
  pid_t pid_;
  ProcessId id_{};
  bool reaped_ = false;
};

/// Blocks until `fd` is readable; false after ten seconds.
[[nodiscard]] bool becomes_readable(int fd);
[[nodiscard]] bool is_readable_now(int fd);

}  // namespace baton
