#include "base/liveness.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>

#include "base/fail.hpp"
#include "base/process_stat.hpp"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace baton {
namespace {

// Zero and what a pid_t reads as negative name groups of processes in kill() and nothing in pidfd_open().
bool can_be_a_pid(std::uint32_t pid) noexcept {
  return pid != 0 && pid <= static_cast<std::uint32_t>(std::numeric_limits<pid_t>::max());
}

bool is_readable(int fd) noexcept {
  pollfd entry{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&entry, 1, 0);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

ProcessId this_process() {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const auto start_time = process_start_time(pid);
  if (!start_time) fail(Code::system, "cannot read /proc/{}/stat, which tells when this process started", pid);
  return {pid, *start_time};
}

std::optional<std::uint64_t> process_start_time(std::uint32_t pid) {
  const auto stat = read_process_stat(pid);
  return stat ? std::optional(stat->start_time) : std::nullopt;
}

bool is_alive(ProcessId process) {
  if (!can_be_a_pid(process.pid)) return false;
  if (const auto stat = read_process_stat(process.pid)) {
    return stat->start_time == process.start_time && !stat->ended();
  }
  // /proc may hide the processes of other users; whether the pid is taken is all that can be known then.
  return ::kill(static_cast<pid_t>(process.pid), 0) == 0 || errno == EPERM;
}

DeathWatch::DeathWatch(ProcessId process, Mechanism mechanism) : process_(process) {
  if (mechanism != Mechanism::polling) open_pidfd(mechanism);
}

void DeathWatch::open_pidfd(Mechanism mechanism) {
  if (!can_be_a_pid(process_.pid)) return become_readable();
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process_.pid, 0)));
  if (!pidfd_) {
    const int reason = errno;
    if (reason == ESRCH) return become_readable();
    if (reason == EMFILE || reason == ENFILE || reason == ENOMEM) {
      fail_system(fmt::format("pidfd_open of process {}", process_.pid), reason);
    }
    // ENOSYS: an old kernel. EPERM and others: a filter of system calls. Polling needs neither.
    if (mechanism == Mechanism::pidfd) fail(Code::unsupported, "this system offers no pidfd (errno {})", reason);
    return;
  }
  // The descriptor holds on to whichever process had the pid when it was opened. Only a look after that tells which
  // one.
  const auto start_time = process_start_time(process_.pid);
  if (start_time && *start_time != process_.start_time) {
    pidfd_.reset();
    become_readable();
  }
}

void DeathWatch::become_readable() {
  readable_.reset(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!readable_) fail_system("eventfd");
}

bool DeathWatch::ended() const {
  if (readable_) return true;
  return pidfd_ ? is_readable(pidfd_.get()) : !is_alive(process_);
}

}  // namespace baton
