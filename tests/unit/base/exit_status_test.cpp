#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/liveness.hpp"
#include "child_process.hpp"

namespace baton {
namespace {

using Mechanism = DeathWatch::Mechanism;

bool kernel_is_at_least(int major, int minor) {
  utsname names{};
  int has_major = 0, has_minor = 0;
  if (::uname(&names) != 0 || std::sscanf(names.release, "%d.%d", &has_major, &has_minor) != 2) return false;
  return has_major > major || (has_major == major && has_minor >= minor);
}

TEST(ExitStatus, ARunningProcessHasNone) {
  const ChildProcess child(ChildProcess::sleep_forever);
  EXPECT_EQ(exit_status_of(DeathWatch(child.id())), std::nullopt);
  EXPECT_EQ(exit_status_of(DeathWatch(child.id(), Mechanism::polling)), std::nullopt);
}

TEST(ExitStatus, AZombieChildShowsItsStatusAndStaysAZombie) {
  for (const auto mechanism : {Mechanism::automatic, Mechanism::polling}) {
    for (const int code : {0, 3, 255}) {
      ChildProcess child([&] { return code; });
      child.wait_until_zombie();
      EXPECT_EQ(exit_status_of(DeathWatch(child.id(), mechanism)), W_EXITCODE(code, 0));
      EXPECT_EQ(child.reap(), W_EXITCODE(code, 0));
    }
    ChildProcess child(ChildProcess::sleep_forever);
    child.kill(SIGKILL);
    child.wait_until_zombie();
    EXPECT_EQ(exit_status_of(DeathWatch(child.id(), mechanism)), SIGKILL);
    EXPECT_EQ(child.reap(), SIGKILL);
  }
}

TEST(ExitStatus, AReapedProcessIsKnownThroughItsPidfd) {
  if (!kernel_is_at_least(6, 15)) GTEST_SKIP() << "kernels before 6.15 do not tell";
  for (const int code : {0, 3, 255}) {
    ChildProcess child([&] { return code; });
    const DeathWatch watch(child.id());
    child.reap();
    EXPECT_EQ(exit_status_of(watch), W_EXITCODE(code, 0));
  }
  for (const int signal : {SIGKILL, SIGTERM}) {
    ChildProcess child(ChildProcess::sleep_forever);
    const DeathWatch watch(child.id());
    child.kill(signal);
    child.reap();
    EXPECT_EQ(exit_status_of(watch), signal);
  }
}

TEST(ExitStatus, APollingWatchOfAReapedProcessKnowsNothing) {
  ChildProcess child([] { return 3; });
  const DeathWatch watch(child.id(), Mechanism::polling);
  child.reap();
  EXPECT_EQ(exit_status_of(watch), std::nullopt);
}

TEST(ExitStatus, AWatchOpenedTooLateKnowsNothing) {
  ChildProcess child([] { return 3; });
  child.reap();
  EXPECT_EQ(exit_status_of(DeathWatch(child.id())), std::nullopt);
}

TEST(ExitStatus, AnotherProcessWithThePidIsNotAsked) {
  ChildProcess child([] { return 3; });
  child.wait_until_zombie();
  EXPECT_EQ(exit_status_of(DeathWatch({child.id().pid, child.id().start_time + 1})), std::nullopt);
}

/// A grandchild, which this process cannot wait for. Its parent reaps it when told to.
class Grandchild {
 public:
  Grandchild() {
    EXPECT_EQ(::pipe(to_parent_), 0);
    EXPECT_EQ(::pipe(from_parent_), 0);
    parent_ = std::make_unique<ChildProcess>([this] {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ChildProcess::sleep_forever();
      }
      char byte = 0;
      if (::write(from_parent_[1], &pid, sizeof pid) != sizeof pid || ::read(to_parent_[0], &byte, 1) != 1) return 1;
      ::waitpid(pid, nullptr, 0);
      return ::write(from_parent_[1], &pid, sizeof pid) == sizeof pid ? 0 : 1;
    });
    const pid_t pid = answer();
    id_ = {static_cast<std::uint32_t>(pid), process_start_time(static_cast<std::uint32_t>(pid)).value_or(0)};
  }
  ~Grandchild() {
    for (const int fd : {to_parent_[0], to_parent_[1], from_parent_[0], from_parent_[1]}) ::close(fd);
  }

  [[nodiscard]] ProcessId id() const { return id_; }
  void kill(int signal) const { EXPECT_EQ(::kill(static_cast<pid_t>(id_.pid), signal), 0); }
  void reap() {
    EXPECT_EQ(::write(to_parent_[1], "x", 1), 1);
    answer();
  }

 private:
  pid_t answer() {
    pid_t pid = 0;
    EXPECT_EQ(::read(from_parent_[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    return pid;
  }

  int to_parent_[2] = {};
  int from_parent_[2] = {};
  std::unique_ptr<ChildProcess> parent_;
  ProcessId id_{};
};

TEST(ExitStatus, AProcessThatIsNoChildShowsItsFailure) {
  Grandchild grandchild;
  const DeathWatch watch(grandchild.id());
  EXPECT_FALSE(watch.ended());
  grandchild.kill(SIGKILL);
  while (!watch.ended()) {
  }
  EXPECT_EQ(exit_status_of(watch), SIGKILL) << "as a zombie";
  grandchild.reap();
  if (!kernel_is_at_least(6, 15)) GTEST_SKIP() << "kernels before 6.15 tell no more";
  EXPECT_EQ(exit_status_of(watch), SIGKILL) << "reaped";
}

TEST(DescribeWaitStatus, NamesCodesAndSignals) {
  EXPECT_EQ(describe_wait_status(W_EXITCODE(0, 0)), "exit code 0");
  EXPECT_EQ(describe_wait_status(W_EXITCODE(3, 0)), "exit code 3");
  EXPECT_EQ(describe_wait_status(W_EXITCODE(255, 0)), "exit code 255");
  EXPECT_EQ(describe_wait_status(SIGKILL), "SIGKILL");
  EXPECT_EQ(describe_wait_status(SIGSEGV | WCOREFLAG), "SIGSEGV (core dumped)");
  EXPECT_EQ(describe_wait_status(SIGABRT), "SIGABRT");
  EXPECT_EQ(describe_wait_status(40), "signal 40");
  EXPECT_EQ(describe_wait_status(W_STOPCODE(SIGSTOP)), "stopped by SIGSTOP");
  EXPECT_EQ(describe_wait_status(0xffff), "wait status 0xffff");
}

TEST(DescribeWaitStatus, DescribesRealEnds) {
  ChildProcess child([] {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return 0;
  });
  EXPECT_TRUE(describe_wait_status(child.reap()).starts_with("SIGSEGV"));
}

}  // namespace
}  // namespace baton
