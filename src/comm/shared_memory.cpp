#include "comm/shared_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace baton::comm {

SharedMemory::~SharedMemory() { ::munmap(address_, bytes_); }

void SharedMemory::revoke() noexcept {
  // Replaces the pages at once: no other thread can be given these addresses in between. If it fails, the memory stays
  // until the object ends.
  static_cast<void>(
      ::mmap(address_, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace baton::comm
