// Memory that several ranks reach, mapped into this process.
#pragma once

#include <cstddef>
#include <memory>

namespace baton::comm {

/// An owned mapping. Unmapped with the object; the bytes live as long as any process maps them.
class SharedMemory {
 public:
  /// Takes over an existing mapping.
  SharedMemory(void* address, std::size_t bytes) noexcept : address_(address), bytes_(bytes) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// Gives the memory back but keeps the addresses: from now on an access crashes.
  void revoke() noexcept { revoke(0, bytes_); }
  /// The same for some of its pages.
  void revoke(std::size_t offset, std::size_t bytes) noexcept;

  /// The same memory at other addresses; nothing if the system has none.
  [[nodiscard]] std::shared_ptr<SharedMemory> map_again() const noexcept;

  [[nodiscard]] void* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* address_;
  std::size_t bytes_;
};

[[nodiscard]] std::size_t page_bytes() noexcept;

}  // namespace baton::comm
