// A mail slot: an abstract Unix datagram socket. It has no file, so nothing stays behind; the kernel attests the
// sender of each message, and messages of other users are dropped.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "comm/backends/shm/descriptor_message.hpp"
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
  MailSocket(const MailSocket&) = delete;
  MailSocket& operator=(const MailSocket&) = delete;
  /// Logs how many messages it dropped.
  ~MailSocket();

  /// For poll and epoll: readable when a message is there.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

  /// The next message, or nothing. Never blocks. Malformed messages and those of other users are dropped and counted;
  /// the first of each kind is worth a warning. Returns nothing, too, after kMostDropped of them, so that somebody who
  /// floods the slot does not keep its owner here: fd() stays readable.
  [[nodiscard]] std::optional<ReceivedMail> receive();

  /// How many messages were dropped so far.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  /// Sends to the slot at `address`, with `descriptor` if it is not negative. Waits, until `deadline`, while the slot
  /// is full. Throws Error (peer_died) if nobody has that slot.
  void send(const std::string& address, const wire::Mail& mail, int descriptor, Deadline deadline);

  static constexpr int kMostDropped = 256;

 private:
  /// Why a message is dropped.
  enum class Defect : std::uint8_t { other_user, no_mail, other_version, count };

  [[nodiscard]] static std::optional<Defect> defect_of(const wire::Mail& mail, ssize_t length, const Attachments& with);
  [[nodiscard]] static const char* describe(Defect defect) noexcept;
  void drop(Defect defect, ssize_t length, const Attachments& with);

  UniqueFd socket_;
  std::array<std::uint64_t, static_cast<std::size_t>(Defect::count)> dropped_{};
};

}  // namespace baton::shm
