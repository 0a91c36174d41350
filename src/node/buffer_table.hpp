// The buffers of the node, as one chip knows them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "comm/shared_memory.hpp"

namespace baton::node {

/// A buffer in the address space of a chip.
struct MappedBuffer {
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;
  std::string name;
  std::shared_ptr<comm::SharedMemory> mapping;  // null where the node itself keeps it
};

/// Any thread.
class BufferTable {
 public:
  void insert(std::uint64_t id, MappedBuffer buffer) {
    const std::lock_guard lock(mutex_);
    buffers_.insert_or_assign(id, std::move(buffer));
  }
  [[nodiscard]] std::optional<MappedBuffer> find(std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find(id);
    return found == buffers_.end() ? std::nullopt : std::optional(found->second);
  }
  void erase(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    buffers_.erase(id);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, MappedBuffer> buffers_;  // guarded by mutex_
};

}  // namespace baton::node
