#include "node/changed_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "node/far_message.hpp"

namespace baton::node {
namespace {

/// Bytes that are compared at once; a bit of the mask stands for each.
constexpr std::size_t kLine = 64;

/// Some bytes behind each other of which at least one has changed: this, a mask of the changed ones, then all of them.
struct LineHead {
  std::uint64_t begin;  // in the buffer
  std::uint64_t bytes;  // at most kLine
  std::uint64_t mask;
};

template <class T>
void put(std::vector<std::byte>& to, const T* from, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  to.insert(to.end(), bytes, bytes + count * sizeof(T));
}

}  // namespace

std::span<const std::byte> ChangedBytes::next() {
  piece_.clear();
  for (; at_ < after_.size() && piece_.size() < kFarPiece; at_ += kLine) {
    const std::size_t count = std::min(kLine, after_.size() - at_);
    const std::byte* before = before_.data() + at_;
    const std::byte* after = after_.data() + at_;
    if (std::memcmp(before, after, count) == 0) continue;
    LineHead head{.begin = begin_ + at_, .bytes = count, .mask = 0};
    for (std::size_t i = 0; i < count; ++i) head.mask |= std::uint64_t{before[i] != after[i]} << i;
    put(piece_, &head, 1);
    put(piece_, after, count);
  }
  return piece_;
}

bool ChangedBytes::apply(std::span<const std::byte> piece, std::span<std::byte> buffer) noexcept {
  while (!piece.empty()) {
    LineHead head{};
    if (piece.size() < sizeof head) return false;
    std::memcpy(&head, piece.data(), sizeof head);
    piece = piece.subspan(sizeof head);
    if (head.bytes > kLine || head.bytes > piece.size()) return false;
    if (head.begin > buffer.size() || head.bytes > buffer.size() - head.begin) return false;
    std::byte* to = buffer.data() + head.begin;
    for (std::size_t i = 0; i < head.bytes; ++i) {
      if ((head.mask >> i & 1U) != 0) to[i] = piece[i];
    }
    piece = piece.subspan(head.bytes);
  }
  return true;
}

}  // namespace baton::node
