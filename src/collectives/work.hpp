// One collective as an algorithm sees it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <baton/collectives.hpp>

#include "collectives/mover.hpp"

namespace baton::collectives {

/// The same place on every rank, or a place of this rank alone.
struct View {
  std::byte* mine = nullptr;
  /// Addresses of all ranks' parts; empty if the others cannot reach theirs here.
  const std::vector<std::byte*>* parts = nullptr;
  std::size_t offset = 0;

  [[nodiscard]] std::byte* of(int rank) const { return (*parts)[static_cast<std::size_t>(rank)] + offset; }
  [[nodiscard]] bool shared() const noexcept { return parts != nullptr; }
};

/// Whether the input may be overwritten as soon as an algorithm returns, or stays until all members have met again.
enum class InputLife : std::uint8_t { until_return, until_next_meeting };

struct Work {
  Element element = Element::uint8;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  /// Elements of the vector, or of one block where there is a block for each rank.
  std::size_t count = 0;
  View input;
  View output;
  /// Bytes from one block to the next.
  std::size_t input_stride = 0;
  std::size_t output_stride = 0;
  InputLife input_life = InputLife::until_return;

  [[nodiscard]] std::size_t bytes() const noexcept { return count * size_of(element); }
};

/// What reduce() divides by at the end.
[[nodiscard]] inline std::uint32_t divisor_of(const Work& work, const Mover& mover) noexcept {
  return work.op == ReduceOp::avg ? static_cast<std::uint32_t>(mover.size()) : 1;
}

/// Elements [first, first + count).
struct Share {
  std::size_t first;
  std::size_t count;
};

/// Share `index` of `shares` of `count` elements: whole cache lines but for the last one, so that no two ranks write to
/// the same line.
[[nodiscard]] inline Share share_of(std::size_t count, std::size_t element_bytes, int index, int shares) noexcept {
  constexpr std::size_t kLineBytes = 64;
  const std::size_t per_line = kLineBytes / element_bytes;
  const std::size_t lines = (count + per_line - 1) / per_line;
  const auto n = static_cast<std::size_t>(shares);
  const auto i = static_cast<std::size_t>(index);
  const std::size_t begin = std::min(count, lines * i / n * per_line);
  const std::size_t end = std::min(count, lines * (i + 1) / n * per_line);
  return {begin, end - begin};
}

/// The rank `distance` behind `rank`, or before it.
[[nodiscard]] inline int around(const Mover& mover, int distance) noexcept {
  const int size = mover.size();
  return ((mover.rank() + distance) % size + size) % size;
}

}  // namespace baton::collectives
