// The segment of one window: a header, one entry per member, then one part per member. All members map it whole.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/barrier_words.hpp"
#include "wire/control.hpp"
#include "wire/mail.hpp"

namespace baton::wire {

inline constexpr std::uint64_t kSegmentMagic = 0x4e4f544142534731;
inline constexpr std::uint32_t kSegmentVersion = 1;

enum class MemberState : std::uint32_t { absent = 0, arrived = 1, failed = 2, released = 3 };

/// What one member asked for. Written by that member; the others compare it with their own wish.
struct alignas(kCacheLine) MemberEntry {
  std::atomic<std::uint32_t> state;    // MemberState
  std::atomic<std::uint32_t> failure;  // Code, if failed
  std::atomic<std::uint64_t> wished_bytes;
  SharedName wished_name;
  std::atomic<std::uint64_t> barrier_epoch;  // the last barrier it arrived at, for reports
  std::byte pad[2 * kCacheLine - 8 - 8 - sizeof(SharedName) - 8];
};
static_assert(sizeof(MemberEntry) == 2 * kCacheLine);

/// The same as a message, to those who do not map the segment.
struct MemberWish {
  std::uint32_t member;
  std::uint32_t failure;  // Code; not ok: it has failed
  std::uint64_t bytes;
  char name[kNameBytes];  // filled up with zeros
};
static_assert(sizeof(MemberWish) == 64);

/// What a member says when it has released a window, under the topic kReleases.
struct MemberRelease {
  AllocationKey window;
  std::uint64_t member;
};
static_assert(sizeof(MemberRelease) == 24);

struct alignas(kCacheLine) SegmentHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t member_count;
  AllocationKey key;
  std::uint64_t part_bytes;   // what members may use
  std::uint64_t part_stride;  // from one part to the next
  std::uint64_t first_part;   // offset of part 0
  std::uint64_t bytes;        // of the whole segment
  BarrierWords barrier;       // of the domain that owns the segment, if it is a domain's
};
static_assert(sizeof(SegmentHeader) == kCacheLine + sizeof(BarrierWords));

struct SegmentShape {
  std::uint32_t member_count;
  std::uint64_t part_bytes;
  std::uint64_t part_stride;
  std::uint64_t first_part;
  std::uint64_t bytes;
};

/// The layout for `members` parts of `part_bytes`, parts at multiples of `page`. Bytes are 0 on overflow.
[[nodiscard]] SegmentShape segment_shape(std::uint32_t members, std::uint64_t part_bytes, std::uint64_t page) noexcept;

[[nodiscard]] inline MemberEntry& member_entry(SegmentHeader& header, std::size_t member) noexcept {
  return reinterpret_cast<MemberEntry*>(&header + 1)[member];
}

/// Why `bytes` at `memory` are no segment for the allocation `key` of `members`, or nullptr if they are.
[[nodiscard]] const char* segment_defect(const void* memory, std::size_t bytes, AllocationKey key,
                                         std::uint32_t members) noexcept;

}  // namespace baton::wire
