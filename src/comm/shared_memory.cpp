#include "comm/shared_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace baton::comm {

SharedMemory::~SharedMemory() { ::munmap(address_, bytes_); }

void SharedMemory::revoke(std::size_t offset, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  // Replaces the pages at once: no other thread can be given these addresses in between. If it fails, the memory stays
  // until the object ends.
  static_cast<void>(::mmap(static_cast<std::byte*>(address_) + offset, bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

std::shared_ptr<SharedMemory> SharedMemory::map_again() const noexcept {
  // Of a shared mapping, an old size of 0 leaves the old one in place.
  void* const again = ::mremap(address_, 0, bytes_, MREMAP_MAYMOVE);
  if (again == MAP_FAILED) return nullptr;
  try {
    return std::make_shared<SharedMemory>(again, bytes_);
  } catch (const std::bad_alloc&) {
    ::munmap(again, bytes_);
    return nullptr;
  }
}

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace baton::comm
