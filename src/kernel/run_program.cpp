#include "kernel/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/quote.hpp"
#include "base/unique_fd.hpp"
#include "kernel/running_groups.hpp"

namespace baton::kernel {
namespace {

/// More than any diagnosis that a person reads; a compiler that loops in its messages cannot fill the memory.
constexpr std::size_t kOutputLimit = 16U << 20U;
/// How long a process may take to die of SIGKILL.
constexpr std::chrono::seconds kDeathLimit{10};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

class FileActions {
 public:
  explicit FileActions(int output_fd) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output_fd, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output_fd, STDERR_FILENO);
    // Not only those marked close-on-exec: what other code of this process forgot to mark is not the compiler's.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
  }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// A process group of its own, and signals as a shell would give them.
class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t set;
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes_, &set);
    ::sigfillset(&set);
    ::posix_spawnattr_setsigdefault(&attributes_, &set);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

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

pid_t spawn(const ProgramCall& call, int output_fd) {
  const auto arguments = pointers(call.arguments);
  const auto environment = pointers(call.environment);
  const FileActions actions(output_fd);
  const Attributes attributes;
  pid_t pid = 0;
  const int error_number = ::posix_spawn(&pid, call.arguments.front().c_str(), actions.get(), attributes.get(),
                                         arguments.data(), environment.data());
  if (error_number != 0) {
    throw Error(Code::launch_failed,
                fmt::format("cannot start {}: {}", printable(call.arguments.front()), ::strerrordesc_np(error_number)));
  }
  return pid;
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
  Child child(spawn(call, child_output.get()));
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
