// What a node and its chips on other hosts say to each other over the path between their ranks. Each message is this
// head and a payload.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "wire/mail.hpp"

namespace baton::node {

/// What these messages are posted under. No domain has this number: theirs are hashes, and their posts have other
/// topics.
inline constexpr wire::AllocationKey kFarTopic{0x45444f4e, 0x45444f4e};  // "NODE"

enum class FarKind : std::uint32_t {
  rings = 1,  // `a` bytes of the first ring of this direction, `b` of the second: Courier
  staging,    // the payload belongs at `a` of the staging memory
  // From the node.
  give,     // there is a buffer `a` of `b` bytes; the payload is its name
  data,     // in answer to the fetch `a`; without payload where `b` is not 0: there is no such memory
  abandon,  // all chips count as dead
  // From a chip.
  fetch,    // as the request `a`, `c` bytes of the buffer `b` from the offset in the payload on
  changes,  // of the buffer `a`: ChangedBytes
};
inline constexpr FarKind kLastFarKind = FarKind::changes;

struct FarHead {
  FarKind kind;
  std::uint32_t phase;      // of the chip: wire::ChipPhase
  std::uint64_t completed;  // by the chip: records
  std::uint64_t tails[2];   // up to where the sender has read the rings of the other direction
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
};
static_assert(sizeof(FarHead) == 56);

/// A message that came.
struct FarMessage {
  FarHead head;
  std::span<const std::byte> payload;
};

/// Nothing if it is none.
[[nodiscard]] inline std::optional<FarMessage> far_message(std::span<const std::byte> bytes) {
  FarMessage message{};
  if (bytes.size() < sizeof message.head) return std::nullopt;
  std::memcpy(&message.head, bytes.data(), sizeof message.head);
  if (message.head.kind < FarKind::rings || message.head.kind > kLastFarKind) return std::nullopt;
  message.payload = bytes.subspan(sizeof message.head);
  return message;
}

/// How many bytes of memory travel in one message.
inline constexpr std::size_t kFarPiece = std::size_t{1} << 20U;
/// How many may be on their way before the sender waits.
inline constexpr std::size_t kFarPiecesAtOnce = 8;

}  // namespace baton::node
