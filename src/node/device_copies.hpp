// Buffers of the node for a chip that does not reach memory of the host: each has a copy on the chip, which is brought
// up to date before a task and read back after it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <baton/chip.hpp>
#include <baton/tensor.hpp>

#include "node/buffer_table.hpp"

namespace baton::node {

/// Of one chip, on its thread.
class DeviceCopies {
 public:
  enum class Use : std::uint8_t { read, write };

  explicit DeviceCopies(Chip& chip) noexcept : chip_(chip) {}
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  /// The address of the copy on the chip. `buffer` stays until forget().
  [[nodiscard]] std::uint64_t address_of(std::uint64_t id, const MappedBuffer& buffer);
  void forget(std::uint64_t id);

  /// The task that comes next uses this tensor, which lies in the copy of buffer `id`.
  void use(std::uint64_t id, const Tensor& tensor, Use use);
  /// Copies what it uses to the chip.
  void bring();
  /// Writes what it changed, and nothing else, to the buffers: the rest may be another chip's, who writes it now.
  void take_back();
  /// No task comes next.
  void reset() noexcept { used_.clear(); }

 private:
  struct Copy {
    std::byte* host = nullptr;
    Tensor on_chip;
  };
  /// Bytes [begin, end) of a buffer.
  struct Used {
    Copy* copy = nullptr;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Use use = Use::read;
    std::vector<std::uint8_t> before{};  // of those that are written
  };

  Chip& chip_;
  std::map<std::uint64_t, Copy> copies_;
  std::vector<Used> used_;
};

}  // namespace baton::node
