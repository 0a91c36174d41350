#include "comm/backends/shm/descriptor_message.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "support/process_memory.hpp"

namespace baton::shm {
namespace {

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

TEST(DescriptorMessage, CarriesADescriptorOrNone) {
  const Pair pair;
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "hello", 5, file.get(), nullptr, 0), 5);
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "again", 5, -1, nullptr, 0), 5);
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
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "0123456789", 10, -1, nullptr, 0), 10);
  char text[4];
  Attachments with;
  EXPECT_EQ(receive_with_descriptor(pair.b.get(), text, sizeof text, with), 5);
}

TEST(DescriptorMessage, KnowsTheSenderWhereTheSocketAsks) {
  const Pair pair(SOCK_DGRAM);
  const int yes = 1;
  ASSERT_EQ(::setsockopt(pair.b.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  ASSERT_EQ(send_with_descriptor(pair.a.get(), "x", 1, -1, nullptr, 0), 1);
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
    ASSERT_EQ(::sendmsg(pair.a.get(), &message, 0), 1);
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

}  // namespace
}  // namespace baton::shm
