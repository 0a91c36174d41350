#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/liveness.hpp"
#include "base/process_stat.hpp"

namespace baton {
namespace {

/// The first version of the kernel's struct pidfd_info; later versions are longer, and the kernel accepts this one.
/// Written here because system headers older than Linux 6.13 lack it.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t pid, tgid, ppid;
  std::uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kPidfdInfoExit = 1U << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

// Known to the kernel from the moment the process was reaped, to all that hold a pidfd of it.
std::optional<int> status_of_reaped(int pidfd) noexcept {
  PidfdInfo info{};
  info.mask = kPidfdInfoExit;
  int result = 0;
  do {
    result = ::ioctl(pidfd, kPidfdGetInfo, &info);
  } while (result < 0 && errno == EINTR);
  if (result != 0 || (info.mask & kPidfdInfoExit) == 0) return std::nullopt;
  return info.exit_code;
}

std::optional<int> status_of_zombie(ProcessId process) {
  const auto stat = read_process_stat(process.pid);
  if (!stat || stat->start_time != process.start_time || !stat->ended()) return std::nullopt;
  // A zero may also mean that this process may not see the number.
  if (stat->exit_code != 0) return stat->exit_code;
  return status_of_child(process.pid);
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace

std::optional<int> status_of_child(std::uint32_t pid) noexcept {
  siginfo_t info{};
  int result = 0;
  do {
    result = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  } while (result < 0 && errno == EINTR);
  if (result != 0 || info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED) return W_EXITCODE(info.si_status, 0);
  return info.si_code == CLD_DUMPED ? (info.si_status | WCOREFLAG) : info.si_status;
}

std::optional<int> exit_status_of(const DeathWatch& watch) {
  // In this order: a zombie that is reaped between the two is found by the second.
  if (const auto status = status_of_zombie(watch.process())) return status;
  return watch.pidfd_ ? status_of_reaped(watch.pidfd_.get()) : std::nullopt;
}

std::string describe_wait_status(int status) {
  if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) {
    return signal_name(WTERMSIG(status)) + (WCOREDUMP(status) ? " (core dumped)" : "");
  }
  if (WIFSTOPPED(status)) return "stopped by " + signal_name(WSTOPSIG(status));
  return fmt::format("wait status {:#x}", static_cast<unsigned>(status));
}

}  // namespace baton
