// What lies where in each rank's part of the window of a mailbox.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace baton::process_group {

/// What a packet is. All of these lie in memory that other processes write.
enum class PacketKind : std::uint32_t {
  message,  // a whole one
  offer,    // of a message whose content comes when it is accepted
  accept,   // of an offer, by the receiver
  refuse,   // of an offer that does not fit what was asked for; `bytes` and `element` are what was
  piece,    // of the content of an accepted message
};

struct PacketHeader {
  PacketKind kind;
  std::int32_t tag;
  std::uint64_t id;     // of an offer, counted by its sender
  std::uint64_t bytes;  // of the whole message
  std::uint32_t element;
  std::uint32_t content_bytes;  // of this packet
};
static_assert(sizeof(PacketHeader) == 32);

struct MailboxLayout {
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kSlots = 8;
  /// Of the packets of one rank to another, as long as there are few ranks.
  static constexpr std::size_t kMostContent = std::size_t{64} * 1024;
  static constexpr std::size_t kLeastContent = 1024;
  static constexpr std::size_t kPart = std::size_t{16} * 1024 * 1024;

  explicit MailboxLayout(int rank_count)
      : ranks(static_cast<std::size_t>(rank_count)),
        content(std::clamp(kPart / ranks / kSlots / kLine * kLine, kLeastContent, kMostContent)) {}

  /// A signal that others notify when there is something to look at.
  static constexpr std::size_t kBell = 0;
  /// A word that never changes: who waits for it learns of departures.
  static constexpr std::size_t kNever = kLine;
  /// In the receiver's part: the packets that `rank` has put there.
  [[nodiscard]] std::size_t put_by(int rank) const { return line(2, rank); }
  /// In the sender's part: the packets that `rank` has taken.
  [[nodiscard]] std::size_t taken_by(int rank) const { return line(2 + ranks, rank); }
  /// In the sender's part: the bytes of whole messages that `rank` has got rid of.
  [[nodiscard]] std::size_t claimed_by(int rank) const { return line(2 + 2 * ranks, rank); }
  [[nodiscard]] std::size_t slot(int rank, std::uint64_t packet) const {
    const std::size_t index = static_cast<std::size_t>(rank) * kSlots + static_cast<std::size_t>(packet % kSlots);
    return line(2 + 3 * ranks, 0) + index * (kLine + content);
  }
  [[nodiscard]] std::size_t bytes() const { return slot(static_cast<int>(ranks), 0); }
  /// What whole messages that nobody has asked for may occupy, from one rank to another.
  [[nodiscard]] std::size_t most_unclaimed() const { return kSlots * content; }

  std::size_t ranks;
  std::size_t content;

 private:
  [[nodiscard]] static std::size_t line(std::size_t first, int index) {
    return (first + static_cast<std::size_t>(index)) * kLine;
  }
};

}  // namespace baton::process_group
