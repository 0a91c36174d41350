#include "comm/backends/shm/rendezvous_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/backends/shm/unix_address.hpp"

namespace baton::shm {
namespace {

bool send_text(const UniqueFd& connection, wire::RendezvousKind kind, Code code, const std::string& text) noexcept {
  wire::RendezvousMessage message = make_message(kind);
  message.code = static_cast<std::uint32_t>(code);
  text.copy(message.text, sizeof message.text - 1);
  return send_message(connection, message);
}

UniqueFd make_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) fail_system("creating a rendezvous socket");
  return socket;
}

}  // namespace

std::string rendezvous_address(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  if (name.size() <= kLongest) return fmt::format("baton/{}/job/{}", ::getuid(), name);
  // Two independent hashes: what two users' names share by accident must not let their jobs meet.
  std::uint64_t first = 14695981039346656037U;
  std::uint64_t second = 0x9e3779b97f4a7c15U;
  for (const char c : name) {
    first = (first ^ static_cast<unsigned char>(c)) * 1099511628211U;
    second = (second + static_cast<unsigned char>(c)) * 0xbf58476d1ce4e5b9U;
    second ^= second >> 29U;
  }
  return fmt::format("baton/{}/job#{:016x}{:016x}", ::getuid(), first, second);
}

UniqueFd try_listen(const std::string& address, std::uint32_t size) {
  UniqueFd socket = make_socket();
  const UnixAddress name(address);
  if (::bind(socket.get(), name.get(), name.length()) != 0) {
    if (errno == EADDRINUSE) return {};
    fail_system("binding the rendezvous socket " + quote(address));
  }
  if (::listen(socket.get(), static_cast<int>(size)) != 0) fail_system("listening at " + quote(address));
  return socket;
}

UniqueFd try_connect(const std::string& address, Deadline deadline) {
  UniqueFd socket = make_socket();
  // Bounds how long a connect waits for room in the host's queue.
  const auto left = std::max<std::chrono::microseconds>(
      std::chrono::duration_cast<std::chrono::microseconds>(deadline.left()), std::chrono::microseconds(1));
  timeval timeout{};
  timeout.tv_sec = left.count() / 1'000'000;
  timeout.tv_usec = static_cast<suseconds_t>(left.count() % 1'000'000);
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0) fail_system("SO_SNDTIMEO");
  const UnixAddress name(address);
  if (::connect(socket.get(), name.get(), name.length()) != 0) {
    if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return {};
    fail_system("connecting to the rendezvous socket " + quote(address));
  }
  const PeerProcess host = peer_of(socket);
  if (host.uid != ::getuid()) {
    fail(Code::join_refused, "the rendezvous name {} is held by pid {} of another user (uid {})", quote(address),
         host.pid, host.uid);
  }
  return socket;
}

PeerProcess peer_of(const UniqueFd& connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) fail_system("SO_PEERCRED");
  return {static_cast<std::uint32_t>(peer.pid), peer.uid};
}

wire::RendezvousMessage make_message(wire::RendezvousKind kind, std::uint32_t rank, std::uint32_t size) {
  wire::RendezvousMessage message{};
  message.magic = wire::kRendezvousMagic;
  message.version = wire::kRendezvousVersion;
  message.kind = kind;
  message.rank = rank;
  message.size = size;
  return message;
}

bool send_message(const UniqueFd& connection, const wire::RendezvousMessage& message) noexcept {
  return send_message(connection, message, -1, Deadline::never());
}

bool send_message(const UniqueFd& connection, const wire::RendezvousMessage& message, int descriptor,
                  const Deadline& deadline) noexcept {
  return send_with_descriptor(connection.get(), &message, sizeof message, descriptor, nullptr, 0, deadline) >= 0;
}

bool send_refusal(const UniqueFd& connection, Code code, const std::string& text) noexcept {
  return send_text(connection, wire::RendezvousKind::refused, code, text);
}

bool send_failure(const UniqueFd& connection, Code code, const std::string& text) noexcept {
  return send_text(connection, wire::RendezvousKind::failed, code, text);
}

Received receive_message(const UniqueFd& connection) noexcept {
  Received received{ReceiveStatus::closed, {}, {}};
  Attachments with;
  ssize_t length = receive_with_descriptor(connection.get(), &received.message, sizeof received.message, with);
  if (length < 0 && errno == ECONNRESET) {
    // The other end closed before it read all that was sent to it. What it said before that is still there.
    length = receive_with_descriptor(connection.get(), &received.message, sizeof received.message, with);
  }
  if (length < 0) {
    received.status = errno == EAGAIN ? ReceiveStatus::nothing_yet : ReceiveStatus::closed;
  } else if (length > 0) {
    const bool whole =
        length == static_cast<ssize_t>(sizeof received.message) && received.message.magic == wire::kRendezvousMagic;
    received.status = whole ? ReceiveStatus::message : ReceiveStatus::malformed;
    received.message.text[sizeof received.message.text - 1] = '\0';
    received.descriptor = std::move(with.descriptor);
  }
  return received;
}

std::string cause_of_end(ProcessId process) {
  constexpr std::chrono::milliseconds kMoment{100};
  try {
    const DeathWatch watch(process);
    const Deadline deadline = Deadline::after(kMoment);
    while (!watch.ended()) {
      if (deadline.passed()) return "it gave up";
      pollfd event{watch.fd(), POLLIN, 0};
      const int interval = static_cast<int>(DeathWatch::poll_interval().count());
      static_cast<void>(::poll(&event, 1, watch.fd() < 0 ? interval : deadline.poll_timeout_ms()));
    }
    const auto status = exit_status_of(watch);
    return status ? describe_wait_status(*status) : "cause unknown";
  } catch (const Error&) {
    return "cause unknown";
  }
}

void throw_told(const wire::RendezvousMessage& message) {
  throw Error(error_info(static_cast<Code>(message.code)).code, printable(message.text));
}

}  // namespace baton::shm
