// Where regions live: numbered slots that never move.
#pragma once

#include <memory>
#include <vector>

#include "chip/graph/region.hpp"

namespace baton::graph {

class RegionStore {
 public:
  RegionStore() = default;
  RegionStore(const RegionStore&) = delete;
  RegionStore& operator=(const RegionStore&) = delete;
  ~RegionStore();

  [[nodiscard]] Region& operator[](std::uint32_t number) noexcept { return chunks_[number / kChunk][number % kChunk]; }
  [[nodiscard]] const Region& operator[](std::uint32_t number) const noexcept {
    return chunks_[number / kChunk][number % kChunk];
  }
  /// Slots in use or free; each number below is valid.
  [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::size_t size() const noexcept { return slots_ - free_.size(); }
  [[nodiscard]] bool in_use(std::uint32_t number) const noexcept { return (*this)[number].view.run != 0; }

  [[nodiscard]] std::uint32_t create(const View& view);
  /// Its links are gone already.
  void destroy(std::uint32_t number);

  /// a and b overlap, and are not linked yet.
  void link(std::uint32_t a, std::uint32_t b);
  void unlink_all(std::uint32_t number);

  /// Makes room for one more reader; `gone(task)` says which ones need not be kept.
  template <class Gone>
  void add_reader(Region& region, TaskId task, Gone&& gone) {
    if (region.reader_count == region.reader_capacity) {
      std::uint32_t kept = 0;
      for (std::uint32_t i = 0; i < region.reader_count; ++i) {
        if (!gone(region.readers[i])) region.readers[kept++] = region.readers[i];
      }
      region.reader_count = kept;
      // Half of the room must be free, so that looking through all of them costs each reader a constant.
      if (2 * kept > region.reader_capacity) grow_readers(region);
    }
    region.readers[region.reader_count++] = task;
  }
  static void clear_readers(Region& region) noexcept {
    region.reader_count = 0;
    if (region.reader_capacity > kKeptReaders) drop_reader_memory(region);
  }

 private:
  static constexpr std::uint32_t kChunk = 256;
  static constexpr std::uint32_t kKeptReaders = 64;
  static constexpr std::uint16_t kFewestLinksLog2 = 2;

  static void grow_readers(Region& region);
  static void drop_reader_memory(Region& region) noexcept;
  static std::uint32_t add_link(Region& region, Link link);

  std::vector<std::unique_ptr<Region[]>> chunks_;
  std::vector<std::uint32_t> free_;
  std::uint32_t slots_ = 0;
};

}  // namespace baton::graph
