#include "base/process_memory.hpp"

#include <sys/uio.h>

#include <cerrno>

namespace baton {

int read_process_memory(std::uint32_t pid, const std::byte* from, std::byte* to, std::size_t bytes) noexcept {
  // The system moves at most 2 GiB at once, and less when it meets a page that is not there.
  while (bytes != 0) {
    const iovec here{to, bytes};
    const iovec there{const_cast<std::byte*>(from), bytes};
    const ssize_t moved = ::process_vm_readv(static_cast<pid_t>(pid), &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    if (moved == 0) return EFAULT;
    to += moved;
    from += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

}  // namespace baton
