#include "job/job_picture.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include <fmt/ranges.h>

#include "base/unique_fd.hpp"
#include "comm/backends/shm/unix_address.hpp"

namespace baton::job {

comm::ControlView view_of(const wire::ControlHeader& header, std::size_t bytes) noexcept {
  comm::ControlView view{.header = &header, .bytes = bytes, .processes = {}};
  // Held against the real size: the header may have changed since it was checked.
  const std::size_t ranks = header.rank_count;
  if (!is_picture(header) || picture_bytes(ranks) > bytes) return view;
  const auto* end = reinterpret_cast<const std::byte*>(&header) + wire::control_bytes(ranks, ranks);
  view.processes = {reinterpret_cast<const comm::ProcessState*>(end), ranks};
  return view;
}

std::string picture_address(std::span<const std::uint8_t, 16> token) {
  return fmt::format("baton-picture-{:02x}", fmt::join(token, ""));
}

bool refresh_picture(std::span<const std::uint8_t, 16> token, const Deadline& deadline) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const shm::UnixAddress where(picture_address(token));
  if (!socket || ::connect(socket.get(), where.get(), where.length()) != 0) return false;
  pollfd ready{.fd = socket.get(), .events = POLLIN, .revents = 0};
  int count = 0;
  do {
    count = ::poll(&ready, 1, deadline.poll_timeout_ms());
  } while (count < 0 && errno == EINTR);
  char done = 0;
  return count > 0 && ::recv(socket.get(), &done, 1, MSG_DONTWAIT) == 1;
}

}  // namespace baton::job
