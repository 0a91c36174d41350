#include "comm/backends/shm/descriptor_message.hpp"

#include <poll.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace baton::shm {
namespace {

/// More than one, so that a sender who attaches several is noticed and nothing leaks.
constexpr std::size_t kMostDescriptors = 8;

/// False after `deadline`. Nothing tells when another process has taken its descriptors, so this looks again every
/// millisecond; it happens where hundreds of ranks of one user start at once.
bool wait_for_receivers(const Deadline& deadline) noexcept {
  if (deadline.passed()) return false;
  static_cast<void>(::poll(nullptr, 0, 1));
  return true;
}

}  // namespace

ssize_t send_with_descriptor(int socket, const void* data, std::size_t bytes, int descriptor, const sockaddr* to,
                             socklen_t to_length, const Deadline& deadline) noexcept {
  iovec piece{const_cast<void*>(data), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to);
  message.msg_namelen = to_length;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  while (true) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0 || (errno != EINTR && errno != ETOOMANYREFS)) return sent;
    if (errno == ETOOMANYREFS && !wait_for_receivers(deadline)) {
      errno = ETOOMANYREFS;
      return -1;
    }
  }
}

ssize_t receive_with_descriptor(int socket, void* data, std::size_t bytes, Attachments& out) noexcept {
  char excess = 0;
  iovec pieces[2] = {{data, bytes}, {&excess, 1}};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t received = -1;
  do {
    received = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
        UniqueFd owned(fd);
        if (!out.descriptor) out.descriptor = std::move(owned);
      }
    } else if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
      out.sender = sender;
    }
  }
  return received;
}

}  // namespace baton::shm
