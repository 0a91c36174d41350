#include "job/launch/keeper.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/fail.hpp"
#include "job/launch/descendants.hpp"

namespace baton::job {
namespace {

// A process that forks while it is looked for may be missed once; nothing outruns this many rounds of SIGKILL.
constexpr int kSweepRounds = 20;

// Messages are single numbers: a group to remember, or a negated group to forget.
void tell(int fd, pid_t number) noexcept {
  while (::write(fd, &number, sizeof number) < 0 && errno == EINTR) {
  }
}

/// Reads until the launcher is gone. The groups it left behind.
std::vector<pid_t> orphaned_groups(int pipe) {
  std::vector<pid_t> groups;
  for (;;) {
    pid_t number = 0;
    const ssize_t count = ::read(pipe, &number, sizeof number);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return groups;
    if (number > 0) groups.push_back(number);
    if (number < 0) std::erase(groups, -number);
  }
}

[[noreturn]] void keep(int pipe, const std::string& job) {
  ::setsid();  // out of the reach of the terminal
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::signal(number, SIG_IGN);
  }
  ::prctl(PR_SET_NAME, kKeeperName);
  // Holds nothing but its pipe: a program that waits for the end of baton's output must not wait for the keeper.
  ::dup2(pipe, 3);
  ::syscall(SYS_close_range, 4U, ~0U, 0U);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  for (const pid_t group : orphaned_groups(3)) ::kill(-group, SIGKILL);
  for (int round = 0; round < kSweepRounds; ++round) {
    const std::vector<pid_t> left = processes_of_job(job);
    if (left.empty()) break;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

Keeper::Keeper(const std::string& job) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("pipe2");
  UniqueFd read_end(ends[0]);
  pipe_.reset(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) fail_system("forking the keeper");
  if (pid_ == 0) keep(read_end.get(), job);
}

Keeper::~Keeper() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Keeper::remember(int fd, pid_t group) noexcept { tell(fd, group); }

void Keeper::forget(pid_t group) noexcept { tell(pipe_.get(), -group); }

}  // namespace baton::job
