#include "comm/backends/shm/mail_socket.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <numeric>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/quote.hpp"
#include "comm/backends/shm/unix_address.hpp"

namespace baton::shm {

std::optional<MailSocket::Defect> MailSocket::defect_of(const wire::Mail& mail, ssize_t length,
                                                        const Attachments& with) {
  if (!with.sender || with.sender->uid != ::getuid()) return Defect::other_user;
  if (length != static_cast<ssize_t>(sizeof mail) || mail.magic != wire::kMailMagic) return Defect::no_mail;
  if (mail.version != wire::kMailVersion) return Defect::other_version;
  return std::nullopt;
}

const char* MailSocket::describe(Defect defect) noexcept {
  switch (defect) {
    case Defect::other_user: return "from another user";
    case Defect::no_mail: return "not mail";
    case Defect::other_version: return "from another version of Baton";
    case Defect::count: break;
  }
  return "";
}

void MailSocket::drop(Defect defect, ssize_t length, const Attachments& with) {
  if (dropped_[static_cast<std::size_t>(defect)]++ != 0) return;
  const std::string sender = with.sender ? fmt::format(" of pid {}, uid {},", with.sender->pid, with.sender->uid) : "";
  log::warn("a message{} with {} bytes was dropped: it is {}; further ones are dropped without a word", sender, length,
            describe(defect));
}

std::uint64_t MailSocket::dropped() const noexcept {
  return std::accumulate(dropped_.begin(), dropped_.end(), std::uint64_t{0});
}

MailSocket::MailSocket(const std::string& address) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (!socket_) fail_system("creating a mail socket");
  const int yes = 1;
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) fail_system("SO_PASSCRED");
  const UnixAddress name(address);
  if (::bind(socket_.get(), name.get(), name.length()) != 0) fail_system("binding the mail socket " + quote(address));
}

MailSocket::~MailSocket() {
  for (std::size_t i = 0; i < dropped_.size(); ++i) {
    if (dropped_[i] > 1) log::info("{} messages were dropped: {}", dropped_[i], describe(static_cast<Defect>(i)));
  }
}

std::optional<ReceivedMail> MailSocket::receive() {
  for (int taken = 0; taken < kMostDropped; ++taken) {
    ReceivedMail received{};
    Attachments with;
    const ssize_t length = receive_with_descriptor(socket_.get(), &received.mail, sizeof received.mail, with);
    if (length < 0) return std::nullopt;
    if (const auto defect = defect_of(received.mail, length, with)) {
      drop(*defect, length, with);
      continue;
    }
    received.descriptor = std::move(with.descriptor);
    received.sender_pid = static_cast<std::uint32_t>(with.sender->pid);
    return received;
  }
  return std::nullopt;
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
