// A mail slot: an abstract Unix datagram socket. It has no file, so nothing stays behind; the kernel attests the
// sender of each message, and messages of other users are dropped.
#pragma once

#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "wire/mail.hpp"

namespace baton::shm {

struct ReceivedMail {
  wire::Mail mail;
  UniqueFd descriptor;  // empty if none came with it
  std::uint32_t sender_pid;
};

class MailSocket {
 public:
  /// Binds the abstract address `address`. Throws Error (system) if it is taken.
  explicit MailSocket(const std::string& address);

  /// For poll and epoll: readable when a message is there.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

  /// The next message, or nothing. Never blocks. Malformed messages and those of other users are dropped with a
  /// warning.
  [[nodiscard]] std::optional<ReceivedMail> receive();

  /// Sends to the slot at `address`, with `descriptor` if it is not negative. Waits, until `deadline`, while the slot
  /// is full. Throws Error (peer_died) if nobody has that slot.
  void send(const std::string& address, const wire::Mail& mail, int descriptor, Deadline deadline);

 private:
  UniqueFd socket_;
};

}  // namespace baton::shm
