// Memory of the host in whole pages: zeroed, and not there until it is touched.
//
// With guards, pages that nobody may touch lie on both sides of each allocation, and one of its ends is where they
// begin: a kernel that loads or stores past that end of a tensor crashes there, which is an error with its name and
// line. Past the other end there is the rest of a page.
#pragma once

#include "chip/device/chip_memory.hpp"

namespace baton::chip {

enum class Guards : std::uint8_t { none, close_behind, close_before };

class HostMemory final : public ChipMemory {
 public:
  explicit HostMemory(Guards guards = Guards::none) noexcept : guards_(guards) {}

  [[nodiscard]] MemoryPlace place() const noexcept override { return {}; }
  [[nodiscard]] std::uint64_t allocate(std::size_t bytes) override;
  void free(std::uint64_t address, std::size_t bytes) noexcept override;
  void copy_in(std::uint64_t to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, std::uint64_t from, std::size_t bytes) override;
  void fill(std::uint64_t to, const void* element, std::size_t element_bytes, std::size_t count) override;

 private:
  Guards guards_;
};

}  // namespace baton::chip
