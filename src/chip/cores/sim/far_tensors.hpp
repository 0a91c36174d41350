// What the instructions of a core compute on instead of memory of other hosts, which they cannot touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <pto/target/core.hpp>

#include "chip/cores/global_memory.hpp"

namespace baton::chip {

/// Of one core. Throws Error if something cannot be fetched or sent.
class FarTensors {
 public:
  explicit FarTensors(GlobalMemory& memory) noexcept : memory_(memory) {}

  /// Where an instruction finds the elements that it reads, or leaves those that it writes, as far from each other as
  /// in `range`. Until the next call for reading, or for writing.
  [[nodiscard]] void* begin(const BatonGlobalRange& range);
  /// Sends the elements that were written at `near`, which begin() gave, to where they belong.
  void end(const BatonGlobalRange& range, const void* near);

 private:
  /// Memory that grows as needed, for one range at a time.
  class Room {
   public:
    /// An address for the lowest byte of a range that lies at `there`, equally far from a cache line's begin.
    [[nodiscard]] std::byte* place(std::uintptr_t there, std::size_t bytes);

   private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
  };

  GlobalMemory& memory_;
  Room read_;
  Room written_;
};

}  // namespace baton::chip
