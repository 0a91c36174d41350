// The socket at which a job comes together: a sequenced-packet connection from each guest to the host.
#pragma once

#include <optional>
#include <string>

#include <baton/error.hpp>

#include "base/deadline.hpp"
#include "base/liveness.hpp"
#include "base/unique_fd.hpp"
#include "comm/control_setup.hpp"
#include "wire/rendezvous.hpp"

namespace baton::shm {

/// The address of the job `name` of this user. Names of any length; long ones are hashed.
[[nodiscard]] std::string rendezvous_address(const std::string& name);

/// Becomes the host at `address`; empty if another process is it already.
[[nodiscard]] UniqueFd try_listen(const std::string& address, std::uint32_t size);

/// Connects to the host at `address`, who must be this user; empty if there is none (any more).
[[nodiscard]] UniqueFd try_connect(const std::string& address, Deadline deadline);

/// The process at the other end: its pid and user, as the kernel knows them.
struct PeerProcess {
  std::uint32_t pid;
  std::uint32_t uid;
};
[[nodiscard]] PeerProcess peer_of(const UniqueFd& connection);

[[nodiscard]] wire::RendezvousMessage make_message(wire::RendezvousKind kind, std::uint32_t rank = 0,
                                                   std::uint32_t size = 0);

/// False if the other end is gone.
bool send_message(const UniqueFd& connection, const wire::RendezvousMessage& message) noexcept;
/// The same with `descriptor`; false also if descriptors cannot be sent until `deadline`.
bool send_message(const UniqueFd& connection, const wire::RendezvousMessage& message, int descriptor,
                  const Deadline& deadline) noexcept;
bool send_refusal(const UniqueFd& connection, Code code, const std::string& text) noexcept;
bool send_failure(const UniqueFd& connection, Code code, const std::string& text) noexcept;

enum class ReceiveStatus : std::uint8_t { message, nothing_yet, closed, malformed };
struct Received {
  ReceiveStatus status;
  wire::RendezvousMessage message;
  UniqueFd descriptor;
};
/// Never blocks. The text of a message is terminated whatever came.
[[nodiscard]] Received receive_message(const UniqueFd& connection) noexcept;

/// How a process ended whose connection was closed: "SIGKILL"; "it gave up" for one that lives on. A process closes its
/// connections shortly before its end is known: this waits a moment for it.
[[nodiscard]] std::string cause_of_end(ProcessId process);

/// The error that `message` (refused, failed) tells of.
[[noreturn]] void throw_told(const wire::RendezvousMessage& message);

}  // namespace baton::shm
