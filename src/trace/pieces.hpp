// Pieces of time that do not overlap, in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace baton::trace {

/// Begins and ends.
using Pieces = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Makes them that, of pieces that overlap in any order.
inline void merge(Pieces& pieces) {
  std::ranges::sort(pieces);
  Pieces merged;
  for (const auto& [begin, end] : pieces) {
    if (!merged.empty() && begin <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, end);
    } else {
      merged.emplace_back(begin, end);
    }
  }
  pieces = std::move(merged);
}

[[nodiscard]] inline std::int64_t total(const Pieces& pieces) {
  std::int64_t sum = 0;
  for (const auto& [begin, end] : pieces) sum += end - begin;
  return sum;
}

/// What of `from` lies outside of `other`.
[[nodiscard]] inline Pieces without(const Pieces& from, const Pieces& other) {
  Pieces result;
  std::size_t next = 0;
  for (auto [begin, end] : from) {
    while (next < other.size() && other[next].second <= begin) ++next;
    for (std::size_t i = next; i < other.size() && other[i].first < end; ++i) {
      if (other[i].first > begin) result.emplace_back(begin, other[i].first);
      begin = std::max(begin, other[i].second);
    }
    if (begin < end) result.emplace_back(begin, end);
  }
  return result;
}

}  // namespace baton::trace
