// A bounded heap whose blocks come back in the order in which they were given out.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace baton::graph {

/// Knows offsets only, not memory. Blocks are numbered 1, 2, 3 ... They may be freed in any order; a block's bytes are
/// used again when all blocks before it are free, too. One thread.
class HeapRing {
 public:
  using BlockId = std::uint64_t;
  struct Block {
    BlockId id;
    std::uint64_t offset;
  };

  /// Every block begins at a multiple of `alignment`, a power of two.
  HeapRing(std::uint64_t capacity_bytes, std::uint64_t alignment);

  /// Nothing if there is no room now.
  [[nodiscard]] std::optional<Block> try_allocate(std::uint64_t bytes);
  /// The block is in the ring and was not freed before.
  void free(BlockId id);

  /// Whether `bytes` will fit once all blocks before `until` are free.
  [[nodiscard]] bool fits_after(std::uint64_t bytes, BlockId until) const;
  /// The least capacity with which `bytes` certainly fit while all blocks from `first` on are in use.
  [[nodiscard]] std::uint64_t sufficient_capacity(std::uint64_t bytes, BlockId first) const;

  /// The oldest block that is not free; the next one's number if there is none.
  [[nodiscard]] BlockId oldest() const noexcept { return next_id_ - spans_.size(); }
  [[nodiscard]] BlockId next() const noexcept { return next_id_; }
  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept { return capacity_; }
  /// Bytes of blocks from `first` on, rounded up to the alignment.
  [[nodiscard]] std::uint64_t bytes_from(BlockId first) const;

 private:
  struct Span {
    std::uint64_t offset;
    std::uint64_t bytes;  // rounded up to the alignment
    bool is_free;
  };

  [[nodiscard]] std::uint64_t rounded(std::uint64_t bytes) const noexcept;
  /// Where `bytes` go if the oldest block in use begins at `tail` (nothing: none is in use).
  [[nodiscard]] std::optional<std::uint64_t> place(std::uint64_t bytes,
                                                   std::optional<std::uint64_t> tail) const noexcept;

  std::uint64_t capacity_;
  std::uint64_t alignment_;
  std::uint64_t head_ = 0;  // end of the newest block
  BlockId next_id_ = 1;
  std::deque<Span> spans_;
};

}  // namespace baton::graph
