#include "chip/graph/heap_ring.hpp"

#include <algorithm>

namespace baton::graph {

HeapRing::HeapRing(std::uint64_t capacity_bytes, std::uint64_t alignment)
    : capacity_(capacity_bytes / alignment * alignment), alignment_(alignment) {}

std::uint64_t HeapRing::rounded(std::uint64_t bytes) const noexcept {
  return (std::max<std::uint64_t>(bytes, 1) + alignment_ - 1) / alignment_ * alignment_;
}

std::optional<std::uint64_t> HeapRing::place(std::uint64_t bytes, std::optional<std::uint64_t> tail) const noexcept {
  if (bytes > capacity_) return std::nullopt;
  if (!tail) return 0;
  if (head_ > *tail) {
    if (bytes <= capacity_ - head_) return head_;
    // The rest of the ring's end stays unused until the head has passed it again.
    if (bytes <= *tail) return 0;
    return std::nullopt;
  }
  // The blocks in use wrap around, or fill everything.
  if (bytes <= *tail - head_) return head_;
  return std::nullopt;
}

std::optional<HeapRing::Block> HeapRing::try_allocate(std::uint64_t bytes) {
  const std::uint64_t size = rounded(bytes);
  if (bytes > capacity_) return std::nullopt;
  const auto offset = place(size, spans_.empty() ? std::nullopt : std::optional(spans_.front().offset));
  if (!offset) return std::nullopt;
  spans_.push_back({*offset, size, false});
  head_ = *offset + size;
  return Block{next_id_++, *offset};
}

void HeapRing::free(BlockId id) {
  spans_[id - oldest()].is_free = true;
  while (!spans_.empty() && spans_.front().is_free) spans_.pop_front();
}

bool HeapRing::fits_after(std::uint64_t bytes, BlockId until) const {
  if (bytes > capacity_) return false;
  const BlockId first = std::max(until, oldest());
  const auto tail = first == next_id_ ? std::nullopt : std::optional(spans_[first - oldest()].offset);
  return place(rounded(bytes), tail).has_value();
}

std::uint64_t HeapRing::bytes_from(BlockId first) const {
  std::uint64_t sum = 0;
  for (BlockId id = std::max(first, oldest()); id < next_id_; ++id) sum += spans_[id - oldest()].bytes;
  return sum;
}

std::uint64_t HeapRing::sufficient_capacity(std::uint64_t bytes, BlockId first) const {
  // The blocks from `first` on and this one pass the ring's end at most once, which wastes less than the one that
  // passes it.
  std::uint64_t largest = rounded(bytes);
  for (BlockId id = std::max(first, oldest()); id < next_id_; ++id) {
    largest = std::max(largest, spans_[id - oldest()].bytes);
  }
  const std::uint64_t needed = bytes_from(first) + rounded(bytes);
  return needed == rounded(bytes) ? needed : needed + largest - alignment_;
}

}  // namespace baton::graph
