// The segment through which a node and its chips talk: a header, one mailbox per chip, then the bytes of their rings.
// The layout is pinned: change kNodeVersion with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "wire/control.hpp"

namespace baton::wire {

inline constexpr std::uint64_t kNodeMagic = 0x4e4f544142444f4e;  // "NODBATON" in memory
inline constexpr std::uint32_t kNodeVersion = 2;
/// The name under which the segment appears in /proc.
inline constexpr const char* kNodeSegmentName = "baton-node";

/// A stream of bytes from one producer to one consumer. Positions count bytes since the start and never wrap.
/// All accesses are sequentially consistent: a waiter tests both before it sleeps (see BasicDoorbell), and the
/// writer of one reads the other to learn whether anybody can be asleep.
struct alignas(kCacheLine) ByteRing {
  // Written by the producer after the bytes; pairs with the consumer's load before it reads them.
  std::atomic<std::uint64_t> head;
  std::byte pad0[kCacheLine - 8];
  // Written by the consumer after it read the bytes; pairs with the producer's load before it overwrites them.
  std::atomic<std::uint64_t> tail;
  std::byte pad1[kCacheLine - 8];
};
static_assert(sizeof(ByteRing) == 2 * kCacheLine);

enum class ChipPhase : std::uint32_t { starting = 0, ready = 1, failed = 2 };

struct alignas(kCacheLine) ChipMailbox {
  // Written by the chip once; pairs with the node's load while it waits for the start. Failed: a report says why.
  std::atomic<std::uint32_t> phase;  // ChipPhase
  std::byte pad0[kCacheLine - 4];
  // How many records of `tasks` the chip has dealt with. Written by the chip after their effects and their reports;
  // pairs with the node's load before it counts them as complete.
  std::atomic<std::uint64_t> completed;
  std::byte pad1[kCacheLine - 8];
  // How many of them the node has counted. Written by the node; pairs with the chip's load that decides whether to
  // ring.
  std::atomic<std::uint64_t> seen;
  std::byte pad2[kCacheLine - 8];
  ByteRing tasks;    // to the chip, in the order in which it works
  ByteRing reports;  // from the chip: what went wrong with tasks
  ByteRing control;  // to the chip, served beside tasks
  ByteRing replies;  // from the chip, to `control`
};
static_assert(sizeof(ChipMailbox) == 3 * kCacheLine + 4 * sizeof(ByteRing));

/// Bytes of the rings of one chip, and of the memory through which data is copied. Powers of two, pages at least.
struct MailboxSizes {
  std::uint64_t tasks;
  std::uint64_t reports;
  std::uint64_t control;
  std::uint64_t replies;
  std::uint64_t staging;

  [[nodiscard]] constexpr std::uint64_t total() const noexcept { return tasks + reports + control + replies + staging; }
};

struct alignas(kCacheLine) NodeHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t chip_count;
  std::uint64_t bytes;  // of the whole segment
  MailboxSizes sizes;
  // Where threads of the node sleep that wait for tasks.
  Doorbell waiters;
  std::byte pad0[kCacheLine - sizeof(Doorbell)];
  // Where the node's service thread sleeps, which works while no other thread of the node waits. Chips ring it only
  // while `armed` is not zero: somebody then waits for what they complete.
  Doorbell service;
  // Written by the node; pairs with the load in chips after they published a completion. Sequentially consistent on
  // both sides: either the chip sees it, or the node, which looks again after it was set, sees the completion.
  std::atomic<std::uint32_t> armed;
  std::byte pad1[kCacheLine - sizeof(Doorbell) - 4];
};
static_assert(offsetof(NodeHeader, waiters) == 64);
static_assert(offsetof(NodeHeader, service) == 128);
static_assert(sizeof(NodeHeader) == 3 * kCacheLine);

[[nodiscard]] constexpr std::uint64_t node_mailboxes_bytes(std::uint64_t chips) noexcept {
  return sizeof(NodeHeader) + chips * sizeof(ChipMailbox);
}
[[nodiscard]] constexpr std::uint64_t node_segment_bytes(std::uint64_t chips, const MailboxSizes& sizes) noexcept {
  constexpr std::uint64_t kPage = 4096;
  return (node_mailboxes_bytes(chips) + kPage - 1) / kPage * kPage + chips * sizes.total();
}

[[nodiscard]] inline ChipMailbox& mailbox_of(NodeHeader& header, std::size_t chip) noexcept {
  return reinterpret_cast<ChipMailbox*>(&header + 1)[chip];
}
/// The first ring byte of `chip`; tasks, reports, control, replies and staging follow each other.
[[nodiscard]] inline std::byte* ring_bytes_of(NodeHeader& header, std::size_t chip) noexcept {
  return reinterpret_cast<std::byte*>(&header) + node_segment_bytes(header.chip_count, header.sizes) -
         (header.chip_count - chip) * header.sizes.total();
}

}  // namespace baton::wire
