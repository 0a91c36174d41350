#include "comm/backends/shm/unix_address.hpp"

#include <cstddef>
#include <cstring>

#include "base/fail.hpp"
#include "base/quote.hpp"

namespace baton::shm {

UnixAddress::UnixAddress(const std::string& name) {
  if (name.empty() || name.size() + 1 > sizeof address_.sun_path) {
    fail(Code::invalid_argument, "the socket name {} has {} bytes; 1 to {} fit", quote(name), name.size(),
         sizeof address_.sun_path - 1);
  }
  address_.sun_family = AF_UNIX;
  // A leading zero byte makes the address abstract; its length counts, not a terminator.
  std::memcpy(address_.sun_path + 1, name.data(), name.size());
  length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

}  // namespace baton::shm
