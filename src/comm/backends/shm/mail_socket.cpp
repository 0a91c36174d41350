#include "comm/backends/shm/mail_socket.hpp"

#include <sys/time.h>
#include <unistd.h>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/quote.hpp"
#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/backends/shm/unix_address.hpp"

namespace baton::shm {
namespace {

/// Why a message is dropped, or nullptr.
const char* mail_defect(const wire::Mail& mail, ssize_t length, const Attachments& with) {
  if (!with.sender || with.sender->uid != ::getuid()) return "it comes from another user";
  if (length != static_cast<ssize_t>(sizeof mail) || mail.magic != wire::kMailMagic) return "it is no mail";
  if (mail.version != wire::kMailVersion) return "it comes from another version of Baton";
  return nullptr;
}

}  // namespace

MailSocket::MailSocket(const std::string& address) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (!socket_) fail_system("creating a mail socket");
  const int yes = 1;
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) fail_system("SO_PASSCRED");
  const UnixAddress name(address);
  if (::bind(socket_.get(), name.get(), name.length()) != 0) fail_system("binding the mail socket " + quote(address));
}

std::optional<ReceivedMail> MailSocket::receive() {
  while (true) {
    ReceivedMail received{};
    Attachments with;
    const ssize_t length = receive_with_descriptor(socket_.get(), &received.mail, sizeof received.mail, with);
    if (length < 0) return std::nullopt;
    if (const char* defect = mail_defect(received.mail, length, with)) {
      log::warn("a message of {} bytes was dropped: {}", length, defect);
      continue;
    }
    received.descriptor = std::move(with.descriptor);
    received.sender_pid = static_cast<std::uint32_t>(with.sender->pid);
    return received;
  }
}

void MailSocket::send(const std::string& address, const wire::Mail& mail, int descriptor, Deadline deadline) {
  // A datagram to a full slot waits in the kernel, which knows when there is room; this bounds how long.
  const auto left = std::max<std::chrono::microseconds>(
      std::chrono::duration_cast<std::chrono::microseconds>(deadline.left()), std::chrono::microseconds(1));
  timeval timeout{};
  timeout.tv_sec = left.count() / 1'000'000;
  timeout.tv_usec = static_cast<suseconds_t>(left.count() % 1'000'000);
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0) fail_system("SO_SNDTIMEO");
  const UnixAddress to(address);
  if (send_with_descriptor(socket_.get(), &mail, sizeof mail, descriptor, to.get(), to.length(), deadline) >= 0) return;
  if (errno == ECONNREFUSED) fail(Code::peer_died, "nobody takes mail at {} any more", quote(address));
  if (errno == EAGAIN) fail(Code::wait_timeout, "the mail slot {} stayed full until the deadline", quote(address));
  if (errno == ETOOMANYREFS) {
    fail(Code::wait_timeout,
         "sending memory to {}: until the deadline more descriptors of this user were on their way than a process may "
         "have open; see \"ulimit -n\"",
         quote(address));
  }
  fail_system("sending mail to " + quote(address));
}

}  // namespace baton::shm
