// Abstract Unix socket addresses: names without files.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

namespace baton::shm {

struct UnixAddress {
  /// Throws Error (invalid_argument) if `name` is too long for an address.
  explicit UnixAddress(const std::string& name);

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  [[nodiscard]] socklen_t length() const noexcept { return length_; }

 private:
  sockaddr_un address_{};
  socklen_t length_ = 0;
};

}  // namespace baton::shm
