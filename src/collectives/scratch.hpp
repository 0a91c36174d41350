// The window that the collectives of a domain share: what lies where in each rank's part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/write_gate.hpp"

namespace baton::collectives {

inline constexpr std::size_t kLine = 64;
/// How many calls have records and slots for contributions at the same time. A rank that is further ahead of another
/// waits for it. Many slots also make contributions fast: what was just written is slow to fetch while it lies in the
/// writer's nearest cache, and the slots, which lie a power of two apart, push each other out of it.
inline constexpr std::uint64_t kRecords = 16;
/// The largest contribution.
inline constexpr std::size_t kSlotBytes = std::size_t{32} * 1024;
/// A contribution of this size needs one cache line in all.
inline constexpr std::size_t kInlineBytes = 40;
/// One half of the staging area: data from outside of windows passes through the two in turns, or through pieces of
/// both. As long as there are few ranks it is large: with more ranks than processors a meeting takes as long as copying
/// a lot.
inline constexpr std::size_t kMostStagingBytes = std::size_t{1024} * 1024;
inline constexpr std::size_t kLeastStagingBytes = std::size_t{256} * 1024;
inline constexpr std::size_t kAllStagingBytes = std::size_t{64} * 1024 * 1024;
/// In how many places of it what needs little of it begins, in turns: lines that others have just read are slow to
/// write, and those that have just been written slow to fetch, as with the slots above.
inline constexpr std::size_t kPlaces = 8;
[[nodiscard]] inline std::size_t staging_bytes_of(int ranks) noexcept {
  return std::clamp(kAllStagingBytes / 2 / static_cast<std::size_t>(ranks) / kLine * kLine, kLeastStagingBytes,
                    kMostStagingBytes);
}
/// The staging area as a ring of pieces. Two ranks run at the same time, and a short ring stays in their caches; more
/// run one after the other, and each does as much as it can when its turn comes.
struct StagingRing {
  std::size_t pieces;
  std::size_t piece_bytes;
};
[[nodiscard]] inline StagingRing ring_of(int ranks) noexcept {
  constexpr std::size_t kPieceBytes = std::size_t{32} * 1024;
  constexpr std::size_t kPiecesOfTwo = 8;
  return {.pieces = ranks == 2 ? kPiecesOfTwo : 2 * staging_bytes_of(ranks) / kPieceBytes, .piece_bytes = kPieceBytes};
}
/// The room for messages from one rank to another, as long as there are few ranks.
inline constexpr std::size_t kMailBytes = std::size_t{16} * 1024;
inline constexpr std::size_t kAllMailBytes = std::size_t{1024} * 1024;

/// How far a rank is. Written by the rank alone.
struct alignas(kLine) ProgressLine {
  std::uint64_t steps;  // round << kRoundShift | steps of that round
};
inline constexpr unsigned kRoundShift = 20;

/// What a rank called, and a small contribution beside it. One word says how far the call is: others who wait fetch the
/// line each time it is written, so a rank that contributes at once writes it once.
struct alignas(kLine) RecordLine {
  std::uint64_t state;        // begun(call), then announced(call)
  std::uint64_t fingerprint;  // Call as one word
  std::uint64_t history;      // a hash of all that must agree, in this call and those before it
  std::byte contribution[kInlineBytes];
};
static_assert(sizeof(RecordLine) == kLine);
/// The states of the calls 1, 2, 3 ...: it has begun; its contribution is complete.
[[nodiscard]] inline constexpr std::uint64_t begun(std::uint64_t call) noexcept { return 2 * call; }
[[nodiscard]] inline constexpr std::uint64_t announced(std::uint64_t call) noexcept { return 2 * call + 1; }
[[nodiscard]] inline constexpr std::uint64_t call_in(std::uint64_t state) noexcept { return state / 2; }

/// How many arrivals there were at meetings. That of rank 0 is the one in use.
struct alignas(kLine) ArrivalLine {
  std::uint64_t arrived;
};

/// The last meeting that was released, and what its combiner says to all. That of rank 0 is the one in use.
struct alignas(kLine) ReleaseLine {
  std::uint64_t released;
  std::uint64_t disagree;  // 0, or 1 + the rank whose call differs from that of the combiner, which is in `judge`
  std::uint64_t judge;
  std::byte common[kInlineBytes];
};
static_assert(sizeof(ReleaseLine) == kLine);

/// The call that this rank has given up, 0 if none, and why. Others who use memory that is theirs until then look here.
struct alignas(kLine) GivenUpLine {
  WriteGate::Word first;  // the first one of any rank. That of rank 0 is the one in use
  std::uint64_t call;
  std::uint64_t code;
};
/// The call in which this rank writes to memory of another at the moment, 0 if it does not.
struct alignas(kLine) WritingLine {
  WriteGate::Word writing;
};

/// Messages to, and from, one other rank. Written by the rank in whose part it lies.
struct alignas(kLine) MailLine {
  std::uint64_t sent;            // chunks to that rank
  std::uint64_t fingerprint[2];  // of the messages that the two chunks in the channel belong to
  std::uint64_t pad0[5];
  std::uint64_t taken;  // chunks from that rank
  std::uint64_t pad1[7];
};
static_assert(sizeof(MailLine) == 2 * kLine);

/// Offsets in a part. Everything before `contributions` is zero until it is used.
struct Layout {
  explicit Layout(int ranks) noexcept {
    const auto n = static_cast<std::size_t>(ranks);
    mail_chunk = std::max(kLine, std::min(kMailBytes, kAllMailBytes / n) / 2 / kLine * kLine);
    mail = kRecordsAt + kRecords * sizeof(RecordLine);
    contributions = mail + n * sizeof(MailLine);
    common = contributions + kRecords * kSlotBytes;
    staging = common + kSlotBytes;
    staging_bytes = staging_bytes_of(ranks);
    mail_data = staging + 2 * staging_bytes;
    bytes = mail_data + n * 2 * mail_chunk;
  }

  static constexpr std::size_t kProgressAt = 0;
  static constexpr std::size_t kArrivalsAt = kLine;
  static constexpr std::size_t kReleaseAt = 2 * kLine;
  static constexpr std::size_t kProcessAt = 3 * kLine;
  static constexpr std::size_t kGivenUpAt = 4 * kLine;
  static constexpr std::size_t kWritingAt = 5 * kLine;
  static constexpr std::size_t kRecordsAt = 6 * kLine;
  std::size_t mail;
  std::size_t contributions;
  std::size_t common;
  std::size_t staging;
  std::size_t staging_bytes;  // one half
  std::size_t mail_data;
  std::size_t mail_chunk;  // half of a channel's room
  std::size_t bytes;
};

}  // namespace baton::collectives
