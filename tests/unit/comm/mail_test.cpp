// Mail between ranks: what comes is sorted, what makes no sense is dropped or refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/backends/shm/mailroom.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "comm/memfd.hpp"
#include "support/process_memory.hpp"
#include "support/require.hpp"

namespace baton::shm {
namespace {

using namespace std::chrono_literals;
using test::require_error;

constexpr wire::AllocationKey kKey{11, 22};

wire::Mail mail_of(wire::MailKind kind, wire::AllocationKey key = {}, std::uint64_t bytes = 0) {
  return {wire::kMailMagic, wire::kMailVersion, kind, 1, key, bytes};
}

/// Two ranks of one job.
struct TwoRooms {
  comm::JobToken token = comm::make_token();
  Mailroom zero{token, 0};
  Mailroom one{token, 1};

  void send(const wire::Mail& mail, int descriptor = -1) { one.send(0, mail, descriptor, Deadline::after(10s)); }

  /// Bytes from a socket of this user, as they are.
  void send_bytes(const void* data, std::size_t count, int descriptor = -1) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const UnixAddress to(mail_address(token, 0));
    ASSERT_EQ(send_with_descriptor(socket.get(), data, count, descriptor, to.get(), to.length(),
                                   Deadline::within(std::chrono::seconds(10))),
              static_cast<ssize_t>(count));
  }
};

TEST(Mailroom, KeepsSegmentsUntilTheyAreAskedFor) {
  TwoRooms rooms;
  const UniqueFd fd = comm::create_memfd("baton-test", 4096);
  static_cast<char*>(comm::map_memfd(fd, 4096)->address())[7] = 'y';
  rooms.send(mail_of(wire::MailKind::segment, kKey, 4096), fd.get());
  rooms.send(mail_of(wire::MailKind::segment, {11, 23}, 4096), fd.get());
  EXPECT_EQ(rooms.zero.collect(kKey), nullptr) << "what was not sorted yet is not there";
  EXPECT_FALSE(rooms.zero.sort());
  EXPECT_EQ(rooms.zero.collect({11, 21}), nullptr);
  const auto segment = rooms.zero.collect(kKey);
  ASSERT_NE(segment, nullptr);
  EXPECT_EQ(static_cast<char*>(segment->address())[7], 'y');
  EXPECT_EQ(rooms.zero.collect(kKey), nullptr) << "a segment is handed out once";
  EXPECT_NE(rooms.zero.collect({11, 23}), nullptr);
}

TEST(Mailroom, HearsOfDepartures) {
  TwoRooms rooms;
  EXPECT_FALSE(rooms.zero.sort());
  rooms.send(mail_of(wire::MailKind::left));
  EXPECT_TRUE(rooms.zero.sort());
  EXPECT_FALSE(rooms.zero.sort());
}

TEST(Trap7Mailroom, RefusesSegmentsThatAreNotAsAnnounced) {
  TwoRooms rooms;
  const UniqueFd small = comm::create_memfd("baton-test", 4096);
  const UniqueFd unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), 4096), 0);
  rooms.send(mail_of(wire::MailKind::segment, {1, 0}, 8192), small.get());
  rooms.send(mail_of(wire::MailKind::segment, {2, 0}, 4096), unsealed.get());
  rooms.send(mail_of(wire::MailKind::segment, {3, 0}, 4096));
  EXPECT_FALSE(rooms.zero.sort());
  require_error(Code::protocol, {"4096 bytes instead of the announced 8192"}, [&] {
    static_cast<void>(rooms.zero.collect({1, 0}));
  });
  require_error(Code::protocol, {"not a sealed memfd"}, [&] { static_cast<void>(rooms.zero.collect({2, 0})); });
  require_error(Code::protocol, {"no descriptor"}, [&] { static_cast<void>(rooms.zero.collect({3, 0})); });
}

TEST(Mailroom, DropsWhatIsNoMail) {
  TwoRooms rooms;
  const int before = test::open_descriptors();
  const UniqueFd fd = comm::create_memfd("baton-test", 4096);
  const wire::Mail good = mail_of(wire::MailKind::segment, kKey, 4096);
  rooms.send_bytes("", 0);
  rooms.send_bytes("junk", 4, fd.get());
  rooms.send_bytes(&good, sizeof good - 1, fd.get());
  std::vector<char> longer(sizeof good + 1);
  std::memcpy(longer.data(), &good, sizeof good);
  rooms.send_bytes(longer.data(), longer.size(), fd.get());
  wire::Mail bad = good;
  bad.magic ^= 1;
  rooms.send_bytes(&bad, sizeof bad, fd.get());
  bad = good;
  ++bad.version;
  rooms.send_bytes(&bad, sizeof bad, fd.get());
  bad = good;
  bad.kind = static_cast<wire::MailKind>(99);
  rooms.send_bytes(&bad, sizeof bad, fd.get());
  EXPECT_FALSE(rooms.zero.sort());
  EXPECT_EQ(rooms.zero.collect(kKey), nullptr);
  EXPECT_EQ(test::open_descriptors(), before + 1) << "descriptors that came with dropped mail are closed";
  rooms.send(good, fd.get());
  EXPECT_FALSE(rooms.zero.sort());
  EXPECT_NE(rooms.zero.collect(kKey), nullptr);
}

/// A datagram of `from` to `address`, with the credentials of another user, which only root may write.
ssize_t send_as_another_user(int from, const std::string& address) {
  char byte = 'x';
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  const UnixAddress to(address);
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to.get());
  message.msg_namelen = to.length();
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_CREDENTIALS;
  header->cmsg_len = CMSG_LEN(sizeof(ucred));
  const ucred stranger{::getpid(), ::getuid() + 1, ::getgid()};
  std::memcpy(CMSG_DATA(header), &stranger, sizeof stranger);
  return ::sendmsg(from, &message, MSG_DONTWAIT);
}

TEST(MailSocket, AFloodOfAnotherUserIsDroppedCountedAndSaidOnce) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may write the credentials of another user";
  const std::string address = "baton/test/" + std::to_string(::getpid()) + "/flooded";
  const UniqueFd stranger(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  constexpr std::uint64_t kMessages = 2000;
  std::uint64_t refills = 0;
  MailSocket slot(address);
  testing::internal::CaptureStderr();
  for (std::uint64_t sent = 0; sent < kMessages;) {
    if (send_as_another_user(stranger.get(), address) == 1) {
      ++sent;
      continue;
    }
    ASSERT_EQ(errno, EAGAIN);
    // While it goes on, the owner of the slot gets away from it after a bounded number of them.
    const std::uint64_t before = slot.dropped();
    EXPECT_FALSE(slot.receive());
    EXPECT_LE(slot.dropped() - before, std::uint64_t{MailSocket::kMostDropped});
    ++refills;
  }
  MailSocket friendly(address + "/friend");
  std::jthread sender([&] { friendly.send(address, mail_of(wire::MailKind::left), -1, Deadline::after(10s)); });
  std::optional<ReceivedMail> mail;
  while (!mail) mail = slot.receive();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(mail->mail.kind, wire::MailKind::left);
  EXPECT_EQ(slot.dropped(), kMessages);
  EXPECT_GT(refills, 0U) << "the slot was never full";
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_NE(log.find("from another user"), std::string::npos) << log;
}

TEST(MailSocket, SendsToNobodyAreErrors) {
  MailSocket socket("baton/test/" + std::to_string(::getpid()) + "/sender");
  require_error(Code::peer_died, {"nobody takes mail"},
                [&] { socket.send("baton/test/nobody", mail_of(wire::MailKind::left), -1, Deadline::after(10s)); });
}

TEST(MailSocket, AFullSlotEndsTheSendAtItsDeadline) {
  TwoRooms rooms;
  const auto fill = [&] {
    for (int i = 0; i < 10'000; ++i) rooms.one.send(0, mail_of(wire::MailKind::left), -1, Deadline::after(50ms));
  };
  require_error(Code::wait_timeout, {"stayed full until the deadline"}, fill);
  // Room again: the next one goes through.
  EXPECT_TRUE(rooms.zero.sort());
  rooms.send(mail_of(wire::MailKind::left));
  EXPECT_TRUE(rooms.zero.sort());
}

TEST(MailSocket, ASendWaitsForRoom) {
  TwoRooms rooms;
  const std::jthread reader([&] {
    for (int taken = 0; taken < 200; ++taken) {
      while (!rooms.zero.sort()) std::this_thread::yield();
      if (rooms.zero.collect({999, 0}) != nullptr) return;
      if (taken == 199) taken = 0;
    }
  });
  for (int i = 0; i < 1000; ++i) rooms.send(mail_of(wire::MailKind::left));
  const UniqueFd fd = comm::create_memfd("baton-test", 4096);
  rooms.send(mail_of(wire::MailKind::segment, {999, 0}, 4096), fd.get());
  rooms.send(mail_of(wire::MailKind::left));
}

TEST(MailSocket, AnAddressHasOneOwner) {
  const comm::JobToken token = comm::make_token();
  const Mailroom first(token, 3);
  require_error(Code::system, {"binding the mail socket"}, [&] { const Mailroom second(token, 3); });
}

}  // namespace
}  // namespace baton::shm
