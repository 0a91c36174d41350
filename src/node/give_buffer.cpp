#include "node/give_buffer.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "comm/backends/shm/descriptor_message.hpp"
#include "node/start_message.hpp"

namespace baton::node {

void limit_giving(const UniqueFd& socket) noexcept {
  const timeval patience{.tv_sec = static_cast<time_t>(baton::options().wait_timeout / std::chrono::seconds(1)) + 1,
                         .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

void give_buffer(const UniqueFd& socket, const SharedBuffer& buffer) {
  BufferMail mail{};
  mail.id = buffer.id;
  mail.bytes = buffer.bytes;
  buffer.name.copy(mail.name, sizeof mail.name - 1);
  const ssize_t sent = shm::send_with_descriptor(socket.get(), &mail, sizeof mail, buffer.fd.get(), nullptr, 0,
                                                 Deadline::within(baton::options().wait_timeout));
  if (sent < 0 && errno != EPIPE && errno != ECONNRESET) fail_system("giving a buffer to a chip");
}

}  // namespace baton::node
