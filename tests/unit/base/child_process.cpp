#include "child_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace baton {
namespace {

bool poll_readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1 && (entry.revents & POLLIN) != 0;
}

}  // namespace

ChildProcess::ChildProcess(const std::function<int()>& body) : pid_(::fork()) {
  if (pid_ == 0) ::_exit(body());
  EXPECT_GT(pid_, 0);
  const auto pid = static_cast<std::uint32_t>(pid_);
  // A child is visible from its birth until it is reaped.
  const auto start_time = process_start_time(pid);
  EXPECT_TRUE(start_time.has_value());
  id_ = {pid, start_time.value_or(0)};
}

ChildProcess::~ChildProcess() {
  if (reaped_ || pid_ <= 0) return;
  kill(SIGKILL);
  reap();
}

int ChildProcess::sleep_forever() {
  for (;;) ::pause();
}

void ChildProcess::kill(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }

void ChildProcess::wait_until_zombie() const {
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
}

int ChildProcess::reap() {
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  reaped_ = true;
  return status;
}

bool becomes_readable(int fd) { return poll_readable(fd, 10'000); }
bool is_readable_now(int fd) { return poll_readable(fd, 0); }

}  // namespace baton
