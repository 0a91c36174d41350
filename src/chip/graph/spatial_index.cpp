#include "chip/graph/spatial_index.hpp"

#include <bit>

namespace baton::graph {

std::uint32_t SpatialIndex::hash_of(const Allocation& home, std::uint32_t allocation, const Level& level,
                                    const Cell& cell) noexcept {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  const std::size_t finest = home.strides.finest();
  std::uint64_t mixed = allocation;
  for (std::size_t c = 0; c <= finest; ++c) {
    const std::uint64_t part = c == finest ? cell[c] >> IndexTable::kRowBits : cell[c];
    mixed = (mixed ^ (mixed >> 32)) * kOdd + part * 67 + level.log2[c];
  }
  return IndexTable::hash_in_row((mixed ^ (mixed >> 29)) * kOdd, cell[finest]);
}

std::uint32_t SpatialIndex::first_in_cell(std::uint32_t allocation, std::uint32_t level, const Level& shape,
                                          const Cell& cell, std::uint32_t hash) const {
  return cells_.find(hash, [&](std::uint32_t number) {
    const Region& region = regions_[number];
    if (region.allocation != allocation || region.level != level) return false;
    for (std::size_t c = 0; c < kCoordinates; ++c) {
      if (region.box.low[c] >> shape.log2[c] != cell[c]) return false;
    }
    return true;
  });
}

std::uint32_t SpatialIndex::level_for(Allocation& home, const Box& box) const {
  Level wanted{.first = kNone};
  if (has_cells(home)) {
    for (std::size_t c = 0; c < kCoordinates; ++c) {
      wanted.log2[c] = static_cast<std::uint8_t>(std::bit_width(box.high[c] - box.low[c]));
    }
  }
  for (std::uint32_t i = 0; i < home.levels.size(); ++i) {
    if (home.levels[i].log2 == wanted.log2) return i;
  }
  home.levels.push_back(wanted);
  return static_cast<std::uint32_t>(home.levels.size() - 1);
}

void SpatialIndex::place(Allocation& home, std::uint32_t number) {
  Region& region = regions_[number];
  region.level = level_for(home, region.box);
  Level& level = home.levels[region.level];
  ++home.regions;
  ++level.count;
  region.level_before = kNone;
  region.level_after = level.first;
  if (level.first != kNone) regions_[level.first].level_before = number;
  level.first = number;
  if (!has_cells(home)) return;

  Cell cell{};
  for (std::size_t c = 0; c < kCoordinates; ++c) cell[c] = region.box.low[c] >> level.log2[c];
  region.cell_hash = hash_of(home, region.allocation, level, cell);
  const std::uint32_t first = first_in_cell(region.allocation, region.level, level, cell, region.cell_hash);
  region.cell_before = kNone;
  region.cell_after = first;
  if (first == kNone) {
    cells_.insert(region.cell_hash, number);
  } else {
    regions_[first].cell_before = number;
    cells_.replace(region.cell_hash, first, number);
  }
}

void SpatialIndex::take_out(Allocation& home, std::uint32_t number) {
  Region& region = regions_[number];
  Level& level = home.levels[region.level];
  --home.regions;
  --level.count;
  if (region.level_after != kNone) regions_[region.level_after].level_before = region.level_before;
  if (region.level_before != kNone) {
    regions_[region.level_before].level_after = region.level_after;
  } else {
    level.first = region.level_after;
  }
  if (!has_cells(home)) return;
  if (region.cell_after != kNone) regions_[region.cell_after].cell_before = region.cell_before;
  if (region.cell_before != kNone) {
    regions_[region.cell_before].cell_after = region.cell_after;
  } else if (region.cell_after != kNone) {
    cells_.replace(region.cell_hash, number, region.cell_after);
  } else {
    cells_.erase(region.cell_hash, number);
  }
}

void SpatialIndex::remove(std::uint32_t number) { take_out(allocations_[regions_[number].allocation], number); }

std::vector<std::uint32_t> SpatialIndex::all_of(std::uint32_t allocation) {
  std::vector<std::uint32_t> result;
  for (const Level& level : allocations_[allocation].levels) {
    for (std::uint32_t at = level.first; at != kNone; at = regions_[at].level_after) result.push_back(at);
  }
  return result;
}

void SpatialIndex::review(std::uint32_t allocation) {
  Allocation& home = allocations_[allocation];
  if (home.regions < kFewRegions) {
    home.strides = StrideSystem(home.begin, 0, 0);
    home.review_at = kFewRegions;
    return;
  }
  StrideSurvey survey;
  for (const Level& level : home.levels) {
    for (std::uint32_t at = level.first; at != kNone; at = regions_[at].level_after) survey.add(regions_[at].view);
  }
  const StrideSystem strides = survey.choose(home.begin);
  const std::uint32_t review_at = 2 * home.regions;
  if (has_cells(home) && strides == home.strides) {
    home.review_at = review_at;
    return;
  }
  const std::vector<std::uint32_t> all = all_of(allocation);
  for (const std::uint32_t number : all) take_out(home, number);
  home.levels.clear();
  home.strides = strides;
  home.review_at = review_at;
  for (const std::uint32_t number : all) {
    regions_[number].box = strides.box_of(regions_[number].view);
    place(home, number);
  }
}

void SpatialIndex::rebuild(std::uint32_t allocation) {
  Allocation& home = allocations_[allocation];
  const std::vector<std::uint32_t> all = all_of(allocation);
  for (const std::uint32_t number : all) take_out(home, number);
  home.levels.clear();
  home.review_at = 0;
  for (const std::uint32_t number : all) {
    // Overlaps among them are known already.
    insert(number, allocation, [](std::uint32_t) {});
  }
}

}  // namespace baton::graph
