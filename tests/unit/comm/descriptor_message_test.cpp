#include "comm/backends/shm/descriptor_message.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "support/process_memory.hpp"

namespace baton::shm {
namespace {

const Deadline kNow = Deadline::at(Deadline::Clock::time_point::min());

struct Pair {
  UniqueFd a;
  UniqueFd b;
  explicit Pair(int type = SOCK_SEQPACKET) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
    a = UniqueFd(ends[0]);
    b = UniqueFd(ends[1]);
  }
};

bool same_file(int one, int two) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(two, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/// One byte with `count` descriptors, as no part of Baton sends it.
ssize_t send_many(const UniqueFd& socket, const UniqueFd& file, std::size_t count) {
  const std::vector<int> many(count, file.get());
  std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
  char byte = 'x';
  iovec piece{&byte, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(header), many.data(), count * sizeof(int));
  return ::sendmsg(socket.get(), &message, 0);
}

TEST(DescriptorMessage, CarriesADescriptorOrNone) {
  const Pair pair;
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "hello", 5, file.get(), nullptr, 0, kNow), 5);
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "again", 5, -1, nullptr, 0, kNow), 5);
  char text[8] = {};
  Attachments with;
  ASSERT_EQ(receive_with_descriptor(pair.b.get(), text, sizeof text, with), 5);
  EXPECT_STREQ(text, "hello");
  ASSERT_TRUE(with.descriptor);
  EXPECT_TRUE(same_file(with.descriptor.get(), file.get()));
  EXPECT_NE(::fcntl(with.descriptor.get(), F_GETFD) & FD_CLOEXEC, 0);
  Attachments none;
  ASSERT_EQ(receive_with_descriptor(pair.b.get(), text, sizeof text, none), 5);
  EXPECT_FALSE(none.descriptor);
  EXPECT_FALSE(none.sender);
}

TEST(DescriptorMessage, NeverBlocks) {
  const Pair pair;
  char text[8];
  Attachments with;
  EXPECT_EQ(receive_with_descriptor(pair.b.get(), text, sizeof text, with), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(DescriptorMessage, TellsWhenMoreCameThanFits) {
  const Pair pair;
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "0123456789", 10, -1, nullptr, 0, kNow), 10);
  char text[4];
  Attachments with;
  EXPECT_EQ(receive_with_descriptor(pair.b.get(), text, sizeof text, with), 5);
}

TEST(DescriptorMessage, KnowsTheSenderWhereTheSocketAsks) {
  const Pair pair(SOCK_DGRAM);
  const int yes = 1;
  ASSERT_EQ(::setsockopt(pair.b.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "x", 1, -1, nullptr, 0, kNow), 1);
  char text[4];
  Attachments with;
  ASSERT_EQ(receive_with_descriptor(pair.b.get(), text, sizeof text, with), 1);
  ASSERT_TRUE(with.sender);
  EXPECT_EQ(with.sender->pid, ::getpid());
  EXPECT_EQ(with.sender->uid, ::getuid());
}

// However many descriptors somebody attaches, one is kept and none leaks.
TEST(DescriptorMessage, ClosesAllButTheFirst) {
  for (const std::size_t count : {std::size_t{2}, std::size_t{8}, std::size_t{9}, std::size_t{200}}) {
    const Pair pair;
    const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(send_many(pair.a, file, count), 1);
    const int before = test::open_descriptors();
    {
      char text[4];
      Attachments with;
      EXPECT_EQ(receive_with_descriptor(pair.b.get(), text, sizeof text, with), 1);
      EXPECT_TRUE(with.descriptor);
      EXPECT_EQ(test::open_descriptors(), before + 1);
    }
    EXPECT_EQ(test::open_descriptors(), before);
  }
}

/// What a process without privileges sees that may have 64 descriptors open and has sent 100; the status it exits with.
enum SendStatus { kWaited, kNotLimited, kWrongError, kDidNotWait, kNotSent };
SendStatus send_beyond_the_limit() {
  constexpr rlim_t kLimit = 64;
  constexpr uid_t kNobody = 65534;
  rlimit limit{kLimit, kLimit};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return kNotLimited;
  if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) return kNotLimited;
  const Pair slow;
  const Pair pair;
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (send_many(slow.a, file, 100) != 1) return kNotLimited;
  if (send_with_descriptor(pair.a.get(), "x", 1, file.get(), nullptr, 0, kNow) >= 0) return kNotLimited;
  if (errno != ETOOMANYREFS) return kWrongError;
  if (send_with_descriptor(pair.a.get(), "x", 1, -1, nullptr, 0, kNow) != 1) return kWrongError;

  std::atomic<bool> returned = false;
  ssize_t sent = 0;
  std::thread sender([&] {
    sent = send_with_descriptor(pair.a.get(), "x", 1, file.get(), nullptr, 0, Deadline::never());
    returned = true;
  });
  // Long enough for a send that does not wait to fail.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const bool early = returned;
  char text[4];
  Attachments with;
  static_cast<void>(receive_with_descriptor(slow.b.get(), text, sizeof text, with));
  sender.join();
  if (early) return kDidNotWait;
  return sent == 1 ? kWaited : kNotSent;
}

TEST(DescriptorMessage, WaitsWhileTooManyAreOnTheirWay) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(send_beyond_the_limit());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotLimited) GTEST_SKIP() << "this system does not limit descriptors on their way";
  EXPECT_EQ(WEXITSTATUS(status), kWaited);
}

}  // namespace
}  // namespace baton::shm
