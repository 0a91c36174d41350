// One message with at most one file descriptor and the kernel's word on who sent it.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"

namespace baton::shm {

/// What came with a message.
struct Attachments {
  UniqueFd descriptor;
  std::optional<ucred> sender;  // only on sockets with SO_PASSCRED
};

/// sendmsg() of `bytes` at `data`, with `descriptor` unless negative; to `to` unless null. Returns what sendmsg() does.
/// While more descriptors of this user are on their way than a process may have open, it waits for their receivers;
/// after `deadline` it returns -1 with ETOOMANYREFS.
[[nodiscard]] ssize_t send_with_descriptor(int socket, const void* data, std::size_t bytes, int descriptor,
                                           const sockaddr* to, socklen_t to_length, const Deadline& deadline) noexcept;

/// recvmsg() of one message into `data`, without blocking. Returns its length, which is `bytes` + 1 if more came; 0 at
/// the end of a connection; -1 with errno. Descriptors beyond the first are closed.
[[nodiscard]] ssize_t receive_with_descriptor(int socket, void* data, std::size_t bytes, Attachments& out) noexcept;

}  // namespace baton::shm
