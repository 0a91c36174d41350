#include "chip/device/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace baton::chip {

std::uint64_t HostMemory::allocate(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail(Situation::too_large, "{} bytes for a chip are more than this machine gives", bytes);
  return reinterpret_cast<std::uint64_t>(memory);
}

void HostMemory::free(std::uint64_t address, std::size_t bytes) noexcept {
  ::munmap(reinterpret_cast<void*>(address), bytes);
}

void HostMemory::copy_in(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
}

void HostMemory::copy_out(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
}

void HostMemory::fill(std::uint64_t to, const void* element, std::size_t element_bytes, std::size_t count) {
  const std::size_t bytes = count * element_bytes;
  auto* begin = reinterpret_cast<std::byte*>(to);
  std::memcpy(begin, element, element_bytes);
  // What is filled is copied behind itself.
  for (std::size_t done = element_bytes; done < bytes;) {
    const std::size_t more = std::min(done, bytes - done);
    std::memcpy(begin + done, begin, more);
    done += more;
  }
}

}  // namespace baton::chip
