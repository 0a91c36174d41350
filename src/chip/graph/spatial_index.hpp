// Finds the regions of an allocation that may overlap a view, without looking at the others.
//
// A region lies in one cell of a grid whose cells have the region's size, rounded up to a power of two, along each
// coordinate of the allocation's stride system: the cell of its lowest corner. A query looks, for each class of sizes
// that occurs, at the cells that the query's box meets and at those just below. Disjoint tiles of a matrix have a
// bounded number of others in these cells, however many there are. Allocations with few regions have no cells.
#pragma once

#include "chip/graph/allocations.hpp"
#include "chip/graph/index_table.hpp"
#include "chip/graph/region_store.hpp"

namespace baton::graph {

class SpatialIndex {
 public:
  SpatialIndex(RegionStore& regions, Allocations& allocations) : regions_(regions), allocations_(allocations) {}

  /// Adds a region to an allocation that contains it. `meet(number)` is called for each region already there whose box
  /// meets the box of the new one.
  template <class Meet>
  void insert(std::uint32_t number, std::uint32_t allocation, Meet&& meet) {
    Allocation& home = prepare(allocation);
    Region& region = regions_[number];
    region.allocation = allocation;
    region.box = home.strides.box_of(region.view);
    for (std::uint32_t level = 0; level < home.levels.size(); ++level) visit(home, level, region, meet);
    place(home, number);
  }
  void remove(std::uint32_t number);

  /// The numbers of all regions of an allocation.
  [[nodiscard]] std::vector<std::uint32_t> all_of(std::uint32_t allocation);
  /// How many regions all insertions together have compared with theirs.
  [[nodiscard]] std::uint64_t looked_at() const noexcept { return looked_at_; }

  /// After its range has changed.
  void rebuild(std::uint32_t allocation);

 private:
  static constexpr std::uint32_t kNone = IndexTable::kNone;
  /// Up to this many regions a list is faster than cells.
  static constexpr std::uint32_t kFewRegions = 8;
  using Cell = std::array<std::uint64_t, kCoordinates>;

  [[nodiscard]] static bool has_cells(const Allocation& allocation) noexcept {
    return allocation.review_at > kFewRegions;
  }

  /// The allocation, with a stride system that suits one region more.
  [[nodiscard]] Allocation& prepare(std::uint32_t allocation) {
    Allocation& home = allocations_[allocation];
    if (home.regions >= home.review_at) review(allocation);
    return home;
  }
  void review(std::uint32_t allocation);
  void place(Allocation& home, std::uint32_t number);
  void take_out(Allocation& home, std::uint32_t number);
  [[nodiscard]] std::uint32_t level_for(Allocation& home, const Box& box) const;
  [[nodiscard]] std::uint32_t first_in_cell(std::uint32_t allocation, std::uint32_t level, const Level& shape,
                                            const Cell& cell, std::uint32_t hash) const;
  [[nodiscard]] static std::uint32_t hash_of(const Allocation& home, std::uint32_t allocation, const Level& level,
                                             const Cell& cell) noexcept;

  template <class Meet>
  void visit(const Allocation& home, std::uint32_t number, const Region& region, Meet&& meet) {
    const Level& level = home.levels[number];
    if (level.count == 0) return;
    const Box& box = region.box;
    Cell first{};
    Cell last{};
    std::uint64_t cells = 1;
    for (std::size_t c = 0; c < kCoordinates; ++c) {
      const std::uint64_t at = box.low[c] >> level.log2[c];
      first[c] = at > 0 ? at - 1 : 0;
      last[c] = box.high[c] >> level.log2[c];
      const std::uint64_t along = last[c] - first[c] + 1;
      cells = along > level.count ? kNone : cells * along;
      if (cells > level.count) break;
    }
    if (cells > level.count || !has_cells(home)) {
      for (std::uint32_t other = level.first; other != kNone;) {
        const std::uint32_t next = regions_[other].level_after;
        ++looked_at_;
        if (regions_[other].box.meets(box)) meet(other);
        other = next;
      }
      return;
    }
    Cell cell{};
    for (cell[0] = first[0]; cell[0] <= last[0]; ++cell[0]) {
      for (cell[1] = first[1]; cell[1] <= last[1]; ++cell[1]) {
        for (cell[2] = first[2]; cell[2] <= last[2]; ++cell[2]) {
          std::uint32_t other =
              first_in_cell(region.allocation, number, level, cell, hash_of(home, region.allocation, level, cell));
          while (other != kNone) {
            const std::uint32_t next = regions_[other].cell_after;
            ++looked_at_;
            if (regions_[other].box.meets(box)) meet(other);
            other = next;
          }
        }
      }
    }
  }

  RegionStore& regions_;
  Allocations& allocations_;
  IndexTable cells_;  // the first region of each cell that is not empty
  std::uint64_t looked_at_ = 0;
};

}  // namespace baton::graph
