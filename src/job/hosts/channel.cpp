#include "job/hosts/channel.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace baton::job {

std::string describe_connection_error(int error_number) {
  switch (error_number) {
    case 0:
    case ECONNRESET:
    case EPIPE: return "closed the connection";
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN: return "does not answer";
    default: return fmt::format("cannot be reached: {}", ::strerrordesc_np(error_number));
  }
}

Transfer PlainChannel::refused(long result) {
  if (result < 0 && (errno == EAGAIN || errno == EINTR)) return {TransferStatus::would_block};
  why_ = describe_connection_error(result == 0 ? 0 : errno);
  return {TransferStatus::closed};
}

Transfer PlainChannel::read(std::span<char> room) {
  const ssize_t count = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (count > 0) return {TransferStatus::done, static_cast<std::size_t>(count)};
  return refused(count);
}

Transfer PlainChannel::write(std::string_view bytes) {
  const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count >= 0) return {TransferStatus::done, static_cast<std::size_t>(count)};
  return refused(count);
}

}  // namespace baton::job
