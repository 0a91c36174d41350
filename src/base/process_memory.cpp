#include "base/process_memory.hpp"

#include <sys/uio.h>

#include <cerrno>

namespace baton {
namespace {

using SystemCall = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

/// The system moves at most 2 GiB at once, and less when it meets a page that is not there.
int move_all(SystemCall move, std::uint32_t pid, std::byte* local, std::byte* remote, std::size_t bytes) noexcept {
  while (bytes != 0) {
    const iovec here{local, bytes};
    const iovec there{remote, bytes};
    const ssize_t moved = move(static_cast<pid_t>(pid), &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    if (moved == 0) return EFAULT;
    local += moved;
    remote += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

}  // namespace

int read_process_memory(std::uint32_t pid, const std::byte* from, std::byte* to, std::size_t bytes) noexcept {
  return move_all(::process_vm_readv, pid, to, const_cast<std::byte*>(from), bytes);
}

int write_process_memory(std::uint32_t pid, const std::byte* from, std::byte* to, std::size_t bytes) noexcept {
  return move_all(::process_vm_writev, pid, const_cast<std::byte*>(from), to, bytes);
}

}  // namespace baton
