// Whose bytes the tasks of a chip work on: memory of the host, or memory that only copies reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <baton/memory_place.hpp>
#include <baton/tensor.hpp>

namespace baton::chip {

/// Shared by all that holds allocations: a captured graph may outlive its chip.
class ChipMemory {
 public:
  ChipMemory() = default;
  ChipMemory(const ChipMemory&) = delete;
  ChipMemory& operator=(const ChipMemory&) = delete;
  virtual ~ChipMemory() = default;

  /// On the host: cores and host address it alike. Elsewhere: the host reaches it through copies.
  [[nodiscard]] virtual MemoryPlace place() const noexcept = 0;
  /// Zeroed, and aligned to kChipAlignment at least. Throws Error (out_of_memory) if there is no room.
  [[nodiscard]] virtual std::uint64_t allocate(std::size_t bytes) = 0;
  virtual void free(std::uint64_t address, std::size_t bytes) noexcept = 0;
  /// Complete when they return. Nothing runs that uses the bytes.
  virtual void copy_in(std::uint64_t to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, std::uint64_t from, std::size_t bytes) = 0;
  /// `count` elements of `element_bytes` bytes, each equal to `element`.
  virtual void fill(std::uint64_t to, const void* element, std::size_t element_bytes, std::size_t count) = 0;
};

/// Of outputs and allocations: a cache line, and what tiles are aligned to.
inline constexpr std::uint64_t kChipAlignment = 64;

/// Memory of a chip that ends with this object.
class OwnedBuffer {
 public:
  OwnedBuffer() = default;
  OwnedBuffer(std::shared_ptr<ChipMemory> memory, std::size_t bytes)
      : memory_(std::move(memory)), address_(bytes == 0 ? 0 : memory_->allocate(bytes)), bytes_(bytes) {}
  OwnedBuffer(OwnedBuffer&& other) noexcept
      : memory_(std::move(other.memory_)),
        address_(std::exchange(other.address_, 0)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  OwnedBuffer& operator=(OwnedBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  OwnedBuffer(const OwnedBuffer&) = delete;
  OwnedBuffer& operator=(const OwnedBuffer&) = delete;
  ~OwnedBuffer() {
    if (address_ != 0) memory_->free(address_, bytes_);
  }

  [[nodiscard]] Buffer buffer() const noexcept { return {.address = address_, .bytes = bytes_}; }
  [[nodiscard]] const void* data() const noexcept { return reinterpret_cast<const void*>(address_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<ChipMemory> memory_;
  std::uint64_t address_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace baton::chip
