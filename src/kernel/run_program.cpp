#include "kernel/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/spawn.hpp"
#include "base/unique_fd.hpp"
#include "kernel/running_groups.hpp"

namespace baton::kernel {
namespace {

/// More than any diagnosis that a person reads; a compiler that loops in its messages cannot fill the memory.
constexpr std::size_t kOutputLimit = 16U << 20U;
/// How long a process may take to die of SIGKILL.
constexpr std::chrono::seconds kDeathLimit{10};

/// A child that is killed, with its group, and reaped at the end at the latest.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), listed_(pid) {
    try {
      const auto start = process_start_time(static_cast<std::uint32_t>(pid));
      // Without one it is gone already: this process lets the system reap its children.
      watch_.emplace(ProcessId{static_cast<std::uint32_t>(pid), start.value_or(0)});
    } catch (...) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      throw;
    }
  }
  ~Child() {
    if (!reaped_) kill_and_reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] bool ended() const { return watch_->ended(); }
  [[nodiscard]] int fd() const { return watch_->fd(); }

  void kill_and_reap() {
    ::kill(-pid_, SIGKILL);
    const Deadline deadline = Deadline::after(kDeathLimit);
    while (!ended() && !deadline.passed()) {
      pollfd entry{fd(), POLLIN, 0};
      ::poll(&entry, 1, next_timeout_ms(deadline));
    }
    static_cast<void>(reap());
  }

  std::optional<int> reap() {
    reaped_ = true;
    listed_.finish();
    int status = 0;
    pid_t found = 0;
    do {
      found = ::waitpid(pid_, &status, WNOHANG);
    } while (found < 0 && errno == EINTR);
    return found == pid_ ? std::optional(status) : std::nullopt;
  }

  /// For poll(): where no descriptor tells of the death, it has to be asked for.
  [[nodiscard]] int next_timeout_ms(const Deadline& deadline) const {
    const int left = deadline.poll_timeout_ms();
    return fd() >= 0 ? left : std::min(left, static_cast<int>(DeathWatch::poll_interval().count()));
  }

 private:
  pid_t pid_;
  RunningGroup listed_;
  std::optional<DeathWatch> watch_;
  bool reaped_ = false;
};

/// Takes what is in the pipe now. False once nobody can write into it any more.
bool drain(int fd, ProgramEnd& end) {
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count == 0) return false;
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN;
    }
    const auto kept = std::min(static_cast<std::size_t>(count), kOutputLimit - end.output.size());
    end.output.append(chunk.data(), kept);
    end.dropped_bytes += static_cast<std::size_t>(count) - kept;
  }
}

}  // namespace

ProgramEnd run_program(const ProgramCall& call, const Deadline& deadline) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("pipe2");
  const UniqueFd output(ends[0]);
  UniqueFd child_output(ends[1]);
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  // The program may act, and somebody may interrupt this process for it, before the child is listed.
  std::optional<StartingGroup> starting;
  starting.emplace();
  Child child(spawn({.program = call.arguments.front(),
                     .arguments = call.arguments,
                     .environment = call.environment,
                     .descriptors = {SpawnCommand::kNothing, child_output.get(), child_output.get()}}));
  starting.reset();
  child_output.reset();

  ProgramEnd end;
  bool open = true;
  // The end of the process decides, not that of its output, which something it left behind may hold open.
  while (!child.ended()) {
    if (deadline.passed()) {
      child.kill_and_reap();
      drain(output.get(), end);
      end.how = ProgramEnd::How::timed_out;
      return end;
    }
    pollfd entries[] = {{open ? output.get() : -1, POLLIN, 0}, {child.fd(), POLLIN, 0}};
    ::poll(entries, std::size(entries), child.next_timeout_ms(deadline));
    if (open) open = drain(output.get(), end);
  }
  if (open) drain(output.get(), end);
  end.status = child.reap();
  return end;
}

}  // namespace baton::kernel
