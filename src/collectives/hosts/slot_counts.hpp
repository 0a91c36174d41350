// What one end of a channel knows of its ring of slots: how many of its messages the other end has taken, and how many
// of the other's it has taken and told.
//
// What was taken is told with the next message, in a few bits. Only where none goes that way for half a ring is it told
// alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace baton::collectives {

class SlotCounts {
 public:
  static constexpr std::uint64_t kSlots = 8;
  static constexpr unsigned kToldBits = 4;
  static constexpr std::uint64_t kToldMask = (std::uint64_t{1} << kToldBits) - 1;

  /// Whether a slot is known to be free. If not, one is when first_missing() is told: alone, if not otherwise, by the
  /// time the other end has taken all.
  [[nodiscard]] bool has_room() const noexcept { return sent_ - known_taken_ < kSlots; }
  [[nodiscard]] std::uint64_t first_missing() const noexcept { return known_taken_ + 1; }

  struct Outgoing {
    std::uint64_t number;  // 1, 2, ...
    std::uint64_t told;    // kToldBits for the other end
  };
  /// The next message to be sent.
  [[nodiscard]] Outgoing send() noexcept {
    ++sent_;
    // Each message tells so much more than the one before that its last bits are enough. It may be less than was taken.
    telling_ = std::min(taken_, telling_ + kToldMask);
    told_with_[sent_ % kSlots] = telling_;
    return {sent_, telling_ & kToldMask};
  }

  /// The number of the next message to come.
  [[nodiscard]] std::uint64_t next() const noexcept { return taken_ + 1; }
  /// What came with it. May be repeated.
  void note_told(std::uint64_t bits) noexcept {
    heard_ += (bits - heard_) & kToldMask;
    note_taken(heard_);
  }
  /// It was taken. True if taken() is to be told alone, now.
  [[nodiscard]] bool take() noexcept {
    ++taken_;
    if (taken_ - told_ < kSlots / 2) return false;
    told_ = taken_;
    return true;
  }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

  /// What the other end told alone, or has shown to have taken.
  void note_taken(std::uint64_t count) noexcept {
    if (count <= known_taken_) return;
    known_taken_ = count;
    // What is on its way, or lies there, has told it nothing yet: it may be waiting for room.
    told_ = std::max(told_, told_with_[count % kSlots]);
  }

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t known_taken_ = 0;  // of those
  std::uint64_t heard_ = 0;        // of those, with messages
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;                            // of those, and the other end knows
  std::uint64_t telling_ = 0;                         // with the last message
  std::array<std::uint64_t, kSlots> told_with_ = {};  // by slot
};

}  // namespace baton::collectives
