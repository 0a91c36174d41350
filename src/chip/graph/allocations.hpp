// Which allocation an address belongs to.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <baton/tensor.hpp>

#include "chip/graph/stride_system.hpp"

namespace baton::graph {

/// Names a registered allocation; never given twice.
using AllocationId = std::uint64_t;

/// Regions of the same class of sizes, in cells of that size.
struct Level {
  std::array<std::uint8_t, kCoordinates> log2{};
  std::uint32_t count = 0;
  std::uint32_t first = 0;
};

/// A range of addresses, disjoint from all others, and the index of the regions inside it. Every region lies in one.
struct Allocation {
  MemorySpace space = MemorySpace::host;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t registrations = 0;
  std::uint32_t regions = 0;
  /// How many regions there must be before the stride system is chosen anew.
  std::uint32_t review_at = 0;
  StrideSystem strides;
  std::vector<Level> levels;  // without cells, and one only, while there are few regions

  [[nodiscard]] bool contains(MemorySpace of, std::uint64_t from, std::uint64_t to) const noexcept {
    return space == of && begin <= from && to <= end;
  }
};

/// Memory that is not registered becomes an allocation when a view of it is first seen. Where a buffer joins several
/// allocations they become one.
class Allocations {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  [[nodiscard]] Allocation& operator[](std::uint32_t number) noexcept { return all_[number]; }
  [[nodiscard]] std::size_t size() const noexcept { return by_address_.size(); }

  /// The allocation that contains [begin, end), or kNone.
  [[nodiscard]] std::uint32_t find(MemorySpace space, std::uint64_t begin, std::uint64_t end) noexcept {
    if (last_found_ != kNone && all_[last_found_].contains(space, begin, end)) return last_found_;
    return search(space, begin, end);
  }

  /// Those that share a byte with [begin, end).
  [[nodiscard]] std::vector<std::uint32_t> touching(MemorySpace space, std::uint64_t begin, std::uint64_t end);
  /// Makes [begin, end) part of one allocation. Others that it touches are appended to `absorbed`: the caller moves
  /// their regions, then calls drop() for them.
  [[nodiscard]] std::uint32_t claim(MemorySpace space, std::uint64_t begin, std::uint64_t end,
                                    std::vector<std::uint32_t>& absorbed);
  /// It has neither regions nor registrations.
  void drop(std::uint32_t number);

 private:
  using Key = std::pair<MemorySpace, std::uint64_t>;  // begin

  using ByAddress = std::map<Key, std::uint32_t>;

  [[nodiscard]] std::uint32_t search(MemorySpace space, std::uint64_t begin, std::uint64_t end) noexcept;
  /// The first that ends behind `begin`.
  [[nodiscard]] ByAddress::iterator first_behind(MemorySpace space, std::uint64_t begin);

  std::vector<Allocation> all_;
  std::vector<std::uint32_t> free_;
  ByAddress by_address_;
  std::vector<ByAddress::iterator> positions_;  // of all_; end() for those that were absorbed
  std::uint32_t last_found_ = kNone;
};

/// Memory that somebody gave a name. Registered ranges do not overlap.
class Registrations {
 public:
  struct Registration {
    Buffer range;
    std::string name;
  };

  /// Throws Error (invalid_argument) if the range overlaps another one.
  AllocationId add(const Buffer& range, std::string_view name);
  /// Throws Error (released) if there is no such registration (any more).
  Registration remove(AllocationId id);

 private:
  std::map<AllocationId, Registration> by_id_;
  std::map<std::pair<MemorySpace, std::uint64_t>, AllocationId> by_address_;
  AllocationId last_id_ = 0;
};

}  // namespace baton::graph
