// Memory of the host in whole pages: zeroed, and not there until it is touched.
#pragma once

#include "chip/device/chip_memory.hpp"

namespace baton::chip {

class HostMemory final : public ChipMemory {
 public:
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::host; }
  [[nodiscard]] std::uint64_t allocate(std::size_t bytes) override;
  void free(std::uint64_t address, std::size_t bytes) noexcept override;
  void copy_in(std::uint64_t to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, std::uint64_t from, std::size_t bytes) override;
  void fill(std::uint64_t to, const void* element, std::size_t element_bytes, std::size_t count) override;
};

}  // namespace baton::chip
