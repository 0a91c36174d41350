#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>
#include <thread>

#include "base/liveness.hpp"
#include "child_process.hpp"
#include "expect_error.hpp"

namespace baton {
namespace {

using Mechanism = DeathWatch::Mechanism;

TEST(Liveness, ThisProcessIsAlive) {
  const ProcessId self = this_process();
  EXPECT_EQ(self.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_GT(self.start_time, 0U);
  EXPECT_EQ(process_start_time(self.pid), self.start_time);
  EXPECT_EQ(this_process(), self);
  EXPECT_TRUE(is_alive(self));
}

TEST(Liveness, AnotherStartTimeIsAnotherProcess) {
  ProcessId other = this_process();
  ++other.start_time;
  EXPECT_FALSE(is_alive(other));
}

TEST(Liveness, NumbersThatAreNoPidAreDead) {
  for (const std::uint32_t pid : {0U, 0x7fffffffU, 0x80000000U, std::numeric_limits<std::uint32_t>::max()}) {
    EXPECT_FALSE(is_alive({pid, 1})) << pid;
    EXPECT_FALSE(process_start_time(pid)) << pid;
  }
}

TEST(Liveness, AChildIsAliveUntilItEnds) {
  ChildProcess child(ChildProcess::sleep_forever);
  EXPECT_TRUE(is_alive(child.id()));
  child.kill(SIGSTOP);
  EXPECT_TRUE(is_alive(child.id()));
  child.kill(SIGKILL);
  child.wait_until_zombie();
  EXPECT_FALSE(is_alive(child.id())) << "a zombie is dead";
  EXPECT_TRUE(process_start_time(child.id().pid));
  child.reap();
  EXPECT_FALSE(is_alive(child.id()));
  EXPECT_FALSE(process_start_time(child.id().pid));
}

bool has_pidfd() {
  const long fd = ::syscall(434 /* pidfd_open */, ::getpid(), 0);
  if (fd >= 0) ::close(static_cast<int>(fd));
  return fd >= 0;
}

class DeathWatchTest : public testing::TestWithParam<Mechanism> {
 protected:
  void SetUp() override {
    if (GetParam() == Mechanism::pidfd && !has_pidfd()) GTEST_SKIP() << "this kernel has no pidfd";
  }

  /// Whether the descriptor, if there is one, is readable exactly if the process has ended.
  static bool descriptor_agrees(const DeathWatch& watch) {
    return watch.fd() < 0 || is_readable_now(watch.fd()) == watch.ended();
  }

  /// Waits by whichever mechanism is under test.
  static bool sees_the_end(const DeathWatch& watch) {
    if (watch.fd() >= 0) return becomes_readable(watch.fd()) && watch.ended();
    for (int i = 0; i < 1000 && !watch.ended(); ++i) std::this_thread::sleep_for(DeathWatch::poll_interval());
    return watch.ended();
  }
};

TEST_P(DeathWatchTest, HasADescriptorUnlessItPolls) {
  const ChildProcess child(ChildProcess::sleep_forever);
  const DeathWatch watch(child.id(), GetParam());
  EXPECT_EQ(watch.process(), child.id());
  EXPECT_EQ(watch.fd() >= 0, GetParam() != Mechanism::polling && has_pidfd());
}

TEST_P(DeathWatchTest, SeesAKilledChild) {
  ChildProcess child(ChildProcess::sleep_forever);
  const DeathWatch watch(child.id(), GetParam());
  EXPECT_FALSE(watch.ended());
  EXPECT_TRUE(descriptor_agrees(watch));
  child.kill(SIGKILL);
  EXPECT_TRUE(sees_the_end(watch));
  child.reap();
  EXPECT_TRUE(watch.ended());
  EXPECT_TRUE(descriptor_agrees(watch));
}

TEST_P(DeathWatchTest, SeesAChildThatExits) {
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  const ChildProcess child([&] {
    char byte = 0;
    return ::read(go[0], &byte, 1) == 1 ? 3 : 4;
  });
  const DeathWatch watch(child.id(), GetParam());
  EXPECT_FALSE(watch.ended());
  ASSERT_EQ(::write(go[1], "x", 1), 1);
  EXPECT_TRUE(sees_the_end(watch));
  ::close(go[0]);
  ::close(go[1]);
}

TEST_P(DeathWatchTest, AStoppedChildHasNotEnded) {
  const ChildProcess child(ChildProcess::sleep_forever);
  const DeathWatch watch(child.id(), GetParam());
  child.kill(SIGSTOP);
  EXPECT_FALSE(watch.ended());
}

TEST_P(DeathWatchTest, AZombieHasEndedAtOnce) {
  const ChildProcess child([] { return 0; });
  child.wait_until_zombie();
  const DeathWatch watch(child.id(), GetParam());
  EXPECT_TRUE(watch.ended());
  EXPECT_TRUE(descriptor_agrees(watch));
}

TEST_P(DeathWatchTest, AReapedChildHasEndedAtOnce) {
  ChildProcess child([] { return 0; });
  child.reap();
  const DeathWatch watch(child.id(), GetParam());
  EXPECT_TRUE(watch.ended());
  EXPECT_EQ(watch.fd() >= 0, GetParam() != Mechanism::polling);
  EXPECT_TRUE(descriptor_agrees(watch));
}

TEST_P(DeathWatchTest, AProcessWhosePidBelongsToAnotherHasEndedAtOnce) {
  const ChildProcess child(ChildProcess::sleep_forever);
  const DeathWatch watch({child.id().pid, child.id().start_time - 1}, GetParam());
  EXPECT_TRUE(watch.ended());
  EXPECT_TRUE(descriptor_agrees(watch));
}

TEST_P(DeathWatchTest, NumbersThatAreNoPidHaveEndedAtOnce) {
  for (const std::uint32_t pid : {0U, std::numeric_limits<std::uint32_t>::max()}) {
    const DeathWatch watch({pid, 1}, GetParam());
    EXPECT_TRUE(watch.ended()) << pid;
    EXPECT_TRUE(descriptor_agrees(watch));
  }
}

TEST_P(DeathWatchTest, MovesWithItsDescriptor) {
  const ChildProcess child(ChildProcess::sleep_forever);
  DeathWatch first(child.id(), GetParam());
  const int fd = first.fd();
  const DeathWatch second(std::move(first));
  EXPECT_EQ(second.fd(), fd);
  child.kill(SIGKILL);
  EXPECT_TRUE(sees_the_end(second));
}

// The first thread of a process may end before the others: the process then looks like a zombie, and lives.
TEST_P(DeathWatchTest, AProcessLivesAsLongAsOneOfItsThreads) {
  const ChildProcess child([] {
    std::thread([] { ChildProcess::sleep_forever(); }).detach();
    // Ends this thread only, without unwinding into the test.
    ::syscall(SYS_exit, 0);
    return 0;
  });
  while (true) {
    const auto text = "/proc/" + std::to_string(child.id().pid) + "/stat";
    FILE* file = std::fopen(text.c_str(), "r");
    ASSERT_NE(file, nullptr);
    char letter = 0;
    const int read = std::fscanf(file, "%*d (%*[^)]) %c", &letter);
    std::fclose(file);
    ASSERT_EQ(read, 1);
    if (letter == 'Z') break;
    std::this_thread::yield();
  }
  const DeathWatch watch(child.id(), GetParam());
  EXPECT_FALSE(watch.ended());
  EXPECT_TRUE(is_alive(child.id()));
  child.kill(SIGKILL);
  EXPECT_TRUE(sees_the_end(watch));
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, DeathWatchTest,
                         testing::Values(Mechanism::automatic, Mechanism::pidfd, Mechanism::polling),
                         [](const auto& test) {
                           return std::string(test.param == Mechanism::automatic ? "automatic"
                                              : test.param == Mechanism::pidfd   ? "pidfd"
                                                                                 : "polling");
                         });

// Makes pidfd_open fail with `reason` for the rest of this process, as the sandboxes of containers do.
bool forbid_pidfd_open(int reason) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 434, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(reason)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(DeathWatchFallback, PollsWhereAFilterForbidsPidfds) {
  constexpr int kFine = 0, kWrong = 1, kNoFilters = 2;
  const ChildProcess target(ChildProcess::sleep_forever);
  for (const int reason : {ENOSYS, EPERM, EACCES}) {
    ChildProcess observer([&] {
      if (!forbid_pidfd_open(reason)) return kNoFilters;
      const DeathWatch living(target.id());
      const DeathWatch gone({target.id().pid, target.id().start_time + 1});
      bool refused = false;
      try {
        const DeathWatch forced(target.id(), Mechanism::pidfd);
      } catch (const Error& error) {
        refused = error.code() == Code::unsupported;
      }
      const bool right = living.fd() == -1 && !living.ended() && gone.fd() == -1 && gone.ended() && refused;
      return right ? kFine : kWrong;
    });
    const int status = observer.reap();
    if (status == kNoFilters << 8) GTEST_SKIP() << "filters of system calls cannot be installed here";
    EXPECT_EQ(status, kFine) << "reason " << reason;
  }
}

TEST(DeathWatchFallback, LackOfDescriptorsIsAnErrorWithTheLimit) {
  if (!has_pidfd()) GTEST_SKIP() << "this kernel has no pidfd";
#ifdef BATON_SANITIZE_UNDEFINED
  GTEST_SKIP() << "the sanitizer needs descriptors itself";
#endif
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const ProcessId parent{static_cast<std::uint32_t>(::getppid()), 1};
  const auto error = error_of([&] { const DeathWatch watch(parent); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::system);
  EXPECT_THAT(error->what(), testing::HasSubstr("EMFILE"));
}

}  // namespace
}  // namespace baton
