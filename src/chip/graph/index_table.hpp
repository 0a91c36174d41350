// An open-addressing hash table of 32-bit numbers that stand for records kept elsewhere.
#pragma once

#include <cstdint>
#include <vector>

namespace baton::graph {

/// The caller hashes and compares; several values may have the same hash.
class IndexTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  IndexTable() : slots_(kFewestSlots) {}

  /// The first value of this hash for which `equal(value)` holds, or kNone.
  template <class Equal>
  [[nodiscard]] std::uint32_t find(std::uint32_t hash, Equal&& equal) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot slot = slots_[at];
      if (slot.value == kNone) return kNone;
      if (slot.hash == hash && equal(slot.value)) return slot.value;
    }
  }

  void insert(std::uint32_t hash, std::uint32_t value);
  /// `value` is in the table under `hash`.
  void erase(std::uint32_t hash, std::uint32_t value);
  void replace(std::uint32_t hash, std::uint32_t value, std::uint32_t by);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t value = kNone;
  };
  static constexpr std::size_t kFewestSlots = 64;

  [[nodiscard]] std::size_t position(std::uint32_t hash, std::uint32_t value) const;
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t count_ = 0;
};

}  // namespace baton::graph
