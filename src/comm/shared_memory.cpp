#include "comm/shared_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace baton::comm {

SharedMemory::~SharedMemory() { ::munmap(address_, bytes_); }

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace baton::comm
