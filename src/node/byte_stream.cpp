#include "node/byte_stream.hpp"

#include <algorithm>

namespace baton::node {

StreamWriter::Written StreamWriter::write(std::span<const std::byte> bytes) noexcept {
  const std::size_t count = std::min<std::size_t>(bytes.size(), room());
  if (count == 0) return {0, false};
  const std::uint64_t at = head_ & (view_.size - 1);
  const std::size_t first = std::min<std::size_t>(count, view_.size - at);
  std::memcpy(view_.bytes + at, bytes.data(), first);
  std::memcpy(view_.bytes, bytes.data() + first, count - first);
  const std::uint64_t before = head_;
  head_ += count;
  view_.ring->head.store(head_, std::memory_order_seq_cst);
  // If the reader has not read up to `before`, it looks at the head again before it sleeps, and then sees the new one:
  // its store of the tail comes after this load, which comes after the store of the head.
  return {count, view_.ring->tail.load(std::memory_order_seq_cst) == before};
}

std::optional<std::span<const std::byte>> StreamReader::next() {
  const std::uint64_t available = view_.ring->head.load(std::memory_order_seq_cst) - tail_;
  const std::uint64_t at = tail_ & (view_.size - 1);
  if (pieces_.empty() && available >= kRecordAlign) {
    std::uint32_t length = 0;
    std::memcpy(&length, view_.bytes + at, sizeof length);
    if (length <= available && length <= view_.size - at) {
      in_ring_ = true;
      return std::span<const std::byte>(view_.bytes + at, length);
    }
  }
  // Pieces are written in multiples of the alignment, so a length comes whole.
  if (pieces_.empty()) {
    if (available < kRecordAlign) return std::nullopt;
    take(kRecordAlign);
  }
  std::uint32_t length = 0;
  std::memcpy(&length, pieces_.data(), sizeof length);
  const std::uint64_t left = view_.ring->head.load(std::memory_order_seq_cst) - tail_;
  take(std::min<std::size_t>(length - pieces_.size(), left));
  if (pieces_.size() < length) return std::nullopt;
  return std::span<const std::byte>(pieces_);
}

void StreamReader::take(std::size_t bytes) {
  const std::size_t begin = pieces_.size();
  pieces_.resize(begin + bytes);
  const std::uint64_t at = tail_ & (view_.size - 1);
  const std::size_t first = std::min<std::size_t>(bytes, view_.size - at);
  std::memcpy(pieces_.data() + begin, view_.bytes + at, first);
  std::memcpy(pieces_.data() + begin + first, view_.bytes, bytes - first);
  tail_ += bytes;
  publish();
}

void StreamReader::release() noexcept {
  if (in_ring_) {
    std::uint32_t length = 0;
    std::memcpy(&length, view_.bytes + (tail_ & (view_.size - 1)), sizeof length);
    tail_ += length;
    publish();
    in_ring_ = false;
  } else {
    pieces_.clear();
  }
}

}  // namespace baton::node
