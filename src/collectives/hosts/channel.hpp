// From one rank to another of another host, and back: a ring of slots in the part of each, into which the other puts
// its messages.
//
// A message arrives together with a word of its slot, which says its number, a stamp that both ends must agree on, and
// how many messages of the other its sender has taken (slot_counts.hpp). Both ends know the sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <baton/window.hpp>

#include "base/function_ref.hpp"
#include "base/landing.hpp"
#include "base/transfer.hpp"
#include "collectives/hosts/slot_counts.hpp"
#include "collectives/scratch.hpp"

namespace baton::collectives {

/// How the channels of a rank lie in its part: lines of words, and rings.
struct ChannelLayout {
  std::size_t lines = 0;  // of the first channel
  std::size_t rings = 0;
  std::size_t slot_bytes = 0;

  static constexpr std::uint64_t kSlots = SlotCounts::kSlots;
  struct Lines {
    std::uint64_t arrived[kSlots];  // by slot: stamped(message, stamp)
    std::uint64_t taken;            // how many messages of this rank the other has taken, told alone
    std::uint64_t pad[7];
  };
  static_assert(sizeof(Lines) == 2 * kLine);

  [[nodiscard]] std::size_t lines_of(std::size_t channel) const noexcept { return lines + channel * sizeof(Lines); }
  [[nodiscard]] std::size_t slot(std::size_t channel, std::uint64_t number) const noexcept {
    return rings + (channel * kSlots + number % kSlots) * slot_bytes;
  }
};

/// Numbers come first, so that words only grow.
inline constexpr unsigned kStampBits = 16;
inline constexpr std::uint64_t kStampMask = (std::uint64_t{1} << kStampBits) - 1;
[[nodiscard]] inline constexpr std::uint64_t stamped(const SlotCounts::Outgoing& message,
                                                     std::uint64_t stamp) noexcept {
  return (message.number << SlotCounts::kToldBits | message.told) << kStampBits | (stamp & kStampMask);
}

/// Waits until the word at `offset` of this rank's part, which `from` advances, is at least `value`, or throws.
using WaitTold = FunctionRef<void(int from, std::size_t offset, std::uint64_t value)>;

class Channel {
 public:
  /// To and from `peer`. In the peer's part this rank's channel is number `there`, in this one's the peer's is `here`.
  Channel(int peer, std::size_t here, std::size_t there) noexcept : peer_(peer), here_(here), there_(there) {}

  [[nodiscard]] int peer() const noexcept { return peer_; }

  /// At most slot_bytes. Waits for room. `data` must not change until what is returned was finished; null: it may.
  [[nodiscard]] std::unique_ptr<Transfer> send(const RawWindow& window, const ChannelLayout& layout,
                                               const std::byte* data, std::size_t bytes, std::uint64_t stamp,
                                               WaitTold wait);

  struct Message {
    const std::byte* data;  // until release()
    std::uint64_t stamp;
  };
  /// Where the next message goes if it is of this size, and comes while the result lives. Null for short ones.
  [[nodiscard]] std::unique_ptr<Landing> land(const RawWindow& window, const ChannelLayout& layout, std::byte* to,
                                              std::size_t bytes) const;
  /// The next message of the other.
  [[nodiscard]] Message receive(const RawWindow& window, const ChannelLayout& layout, WaitTold wait);
  /// It is not needed any more.
  void release(const RawWindow& window, const ChannelLayout& layout);

 private:
  int peer_;
  std::size_t here_;
  std::size_t there_;
  SlotCounts counts_;
};

}  // namespace baton::collectives
