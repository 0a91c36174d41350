// An open-addressing hash table of 32-bit numbers that stand for records kept elsewhere.
#pragma once

#include <cstdint>
#include <vector>

namespace baton::graph {

/// The caller hashes and compares; several values may have the same hash. Records of hashes that differ in their lowest
/// bits only are neighbours: programs walk through memory, and so do their accesses to the table.
class IndexTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// The hash of something with the number `place` in a row of its likes, which `mixed`, a product of well mixed bits
  /// in its upper half, tells apart from other rows. `place` is mixed in by the caller without its kRowBits lowest
  /// bits.
  static constexpr unsigned kRowBits = 3;
  [[nodiscard]] static constexpr std::uint32_t hash_in_row(std::uint64_t mixed, std::uint64_t place) noexcept {
    constexpr std::uint64_t kPlaceMask = (1U << kRowBits) - 1;
    return static_cast<std::uint32_t>((mixed >> 32 & ~kPlaceMask) | (place & kPlaceMask));
  }

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

  /// What is probably `steps` further in the row of `hash`, or kNone.
  [[nodiscard]] std::uint32_t further(std::uint32_t hash, std::uint32_t steps) const noexcept {
    return slots_[(hash + steps) & (slots_.size() - 1)].value;
  }
  void prefetch(std::uint32_t hash) const noexcept { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

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

  std::vector<Slot> slots_;  // a power of two, at most a quarter full: rows are long, and meet
  std::size_t count_ = 0;
};

}  // namespace baton::graph
