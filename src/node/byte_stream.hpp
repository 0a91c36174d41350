// Records through a ring of shared bytes: any length, also longer than the ring.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "wire/node_mailbox.hpp"

namespace baton::node {

/// The bytes of a ring in this process. `size` is a power of two.
struct RingView {
  wire::ByteRing* ring = nullptr;
  std::byte* bytes = nullptr;
  std::uint64_t size = 0;
};

/// Every record begins with its length in bytes, a multiple of kRecordAlign that counts itself.
inline constexpr std::size_t kRecordAlign = 8;

/// One thread at a time.
class StreamWriter {
 public:
  StreamWriter() = default;
  explicit StreamWriter(const RingView& view) noexcept
      : view_(view), head_(view.ring->head.load(std::memory_order_seq_cst)) {}

  struct Written {
    std::size_t bytes;
    /// The reader had read everything before: it may sleep.
    bool reader_was_idle;
  };
  /// Writes as much as there is room for; a record may be written in pieces.
  [[nodiscard]] Written write(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] std::uint64_t room() const noexcept {
    return view_.size - (head_ - view_.ring->tail.load(std::memory_order_seq_cst));
  }

 private:
  RingView view_;
  std::uint64_t head_ = 0;
};

/// One thread at a time.
class StreamReader {
 public:
  StreamReader() = default;
  explicit StreamReader(const RingView& view) noexcept
      : view_(view), tail_(view.ring->tail.load(std::memory_order_seq_cst)) {}

  /// Any thread may ask.
  [[nodiscard]] bool readable() const noexcept {
    return view_.ring->head.load(std::memory_order_seq_cst) != view_.ring->tail.load(std::memory_order_seq_cst);
  }

  /// The next record, if all of it has come; valid until release(). A record of which only a part has come is taken
  /// out of the ring, so that the rest can come.
  [[nodiscard]] std::optional<std::span<const std::byte>> next();
  /// A record has come in part: its writer may wait for room.
  [[nodiscard]] bool has_part() const noexcept { return !pieces_.empty(); }
  /// Gives the room of the record back to the writer.
  void release() noexcept;

 private:
  void take(std::size_t bytes);
  // NOLINTNEXTLINE(readability-make-member-function-const): it changes the stream, which lies elsewhere
  void publish() noexcept { view_.ring->tail.store(tail_, std::memory_order_seq_cst); }

  RingView view_;
  std::uint64_t tail_ = 0;
  std::vector<std::byte> pieces_;  // of a record that was not there at once
  bool in_ring_ = false;           // the record of next() was not copied
};

}  // namespace baton::node
