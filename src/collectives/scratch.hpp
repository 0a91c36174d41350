// The window that the collectives of a domain share: what lies where in each rank's part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace baton::collectives {

inline constexpr std::size_t kLine = 64;
/// How many calls a rank may be ahead of another before it has to wait for it: the rings of records and of slots.
inline constexpr std::uint64_t kRecords = 16;
inline constexpr std::uint64_t kSlots = 4;
/// The largest contribution.
inline constexpr std::size_t kSlotBytes = std::size_t{32} * 1024;
/// A contribution of this size needs one cache line in all.
inline constexpr std::size_t kInlineBytes = 32;
/// One half of the staging area: data from outside of windows passes through the two in turns.
inline constexpr std::size_t kStagingBytes = std::size_t{256} * 1024;
/// So much of it is used while every rank has a processor: meetings cost little then, and a short first piece lets all
/// begin soon.
inline constexpr std::size_t kStagingBytesWhenSpare = std::size_t{64} * 1024;
/// The room for messages from one rank to another, as long as there are few ranks.
inline constexpr std::size_t kMailBytes = std::size_t{16} * 1024;
inline constexpr std::size_t kAllMailBytes = std::size_t{1024} * 1024;

/// How far a rank is. Written by the rank alone.
struct alignas(kLine) ProgressLine {
  std::uint64_t steps;  // round << kRoundShift | steps of that round
};
inline constexpr unsigned kRoundShift = 20;

/// What a rank called, and a small contribution beside it.
struct alignas(kLine) RecordLine {
  std::uint64_t announced;    // the call whose contribution is complete
  std::uint64_t call;         // 1, 2, 3 ...
  std::uint64_t fingerprint;  // Call as one word
  std::uint64_t details;      // a hash of what else must agree
  std::byte contribution[kInlineBytes];
};
static_assert(sizeof(RecordLine) == kLine);

/// How many arrivals there were at meetings. That of rank 0 is the one in use.
struct alignas(kLine) ArrivalLine {
  std::uint64_t arrived;
};

/// The last meeting that was released, and what its combiner says to all. That of rank 0 is the one in use.
struct alignas(kLine) ReleaseLine {
  std::uint64_t released;
  std::uint64_t disagree;  // 0, or 1 + the rank whose call differs from that of the combiner, which is in `judge`
  std::uint64_t judge;
  std::uint64_t pad;
  std::byte common[kInlineBytes];
};
static_assert(sizeof(ReleaseLine) == kLine);

/// What rank 0 decides for all, before the first call.
struct alignas(kLine) TermsLine {
  std::uint64_t staging_bytes;
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
    common = contributions + kSlots * kSlotBytes;
    staging = common + kSlotBytes;
    mail_data = staging + 2 * kStagingBytes;
    bytes = mail_data + n * 2 * mail_chunk;
  }

  static constexpr std::size_t kProgressAt = 0;
  static constexpr std::size_t kArrivalsAt = kLine;
  static constexpr std::size_t kReleaseAt = 2 * kLine;
  static constexpr std::size_t kTermsAt = 3 * kLine;
  static constexpr std::size_t kRecordsAt = 4 * kLine;
  std::size_t mail;
  std::size_t contributions;
  std::size_t common;
  std::size_t staging;
  std::size_t mail_data;
  std::size_t mail_chunk;  // half of a channel's room
  std::size_t bytes;
};

}  // namespace baton::collectives
