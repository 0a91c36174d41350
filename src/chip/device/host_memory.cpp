#include "chip/device/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace baton::chip {

namespace {

/// Addresses on each side of an allocation, in whole pages. An index that is wrong by less than this is found.
constexpr std::size_t kGuardBytes = std::size_t{1} << 20U;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::byte* map(std::size_t bytes, int protection) {
  void* memory = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// What lies between the two guards.
std::size_t guarded_bytes(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return rounded_up(bytes, page);
}

/// How far behind the first guard the allocation begins.
std::size_t distance_from_guard(std::size_t bytes, Guards guards) {
  return guards == Guards::close_before ? 0 : guarded_bytes(bytes) - rounded_up(bytes, kChipAlignment);
}

std::byte* map_guarded(std::size_t bytes, Guards guards) {
  const std::size_t inside = guarded_bytes(bytes);
  std::byte* const memory = map(inside + 2 * kGuardBytes, PROT_NONE);
  if (memory == nullptr) return nullptr;
  if (::mprotect(memory + kGuardBytes, inside, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(memory, inside + 2 * kGuardBytes);
    return nullptr;
  }
  return memory + kGuardBytes + distance_from_guard(bytes, guards);
}

}  // namespace

std::uint64_t HostMemory::allocate(std::size_t bytes) {
  std::byte* const memory = guards_ == Guards::none ? map(bytes, PROT_READ | PROT_WRITE) : map_guarded(bytes, guards_);
  if (memory == nullptr) fail(Situation::too_large, "{} bytes for a chip are more than this machine gives", bytes);
  return reinterpret_cast<std::uint64_t>(memory);
}

void HostMemory::free(std::uint64_t address, std::size_t bytes) noexcept {
  auto* memory = reinterpret_cast<std::byte*>(address);
  if (guards_ == Guards::none) {
    ::munmap(memory, bytes);
    return;
  }
  const std::size_t inside = guarded_bytes(bytes);
  ::munmap(memory - distance_from_guard(bytes, guards_) - kGuardBytes, inside + 2 * kGuardBytes);
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
