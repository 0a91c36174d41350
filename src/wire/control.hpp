// The control segment of a job: one header, then one block per rank, then the last events of each rank that is a
// process. Every rank of the job maps it; `baton ps` and `baton run` map it too. The layout is pinned: change
// kControlVersion with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "base/event_area.hpp"
#include "wire/arrivals.hpp"
#include "wire/barrier_words.hpp"

namespace baton::wire {

inline constexpr std::uint64_t kControlMagic = 0x4e4f544142544a31;  // "1JTBATON" in memory
inline constexpr std::uint32_t kControlVersion = 9;
/// The name under which a control segment appears in /proc/PID/maps and /proc/PID/fd.
inline constexpr const char* kControlSegmentName = "baton-control";
inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::uint32_t kMaxRanks = 65536;
inline constexpr std::size_t kNameBytes = 48;
inline constexpr std::size_t kReasonBytes = 256;
inline constexpr std::size_t kActorBytes = 96;
inline constexpr std::size_t kMembersBytes = 128;
inline constexpr std::size_t kPlaceBytes = 128;

/// The life of a rank. Moves only forward.
enum class RankState : std::uint32_t { absent = 0, live = 1, left = 2, dead = 3 };

/// How a dead rank ended. Stored beside the state as one word: kind in the high half, value in the low half: a signal,
/// an exit code, or the Code of an error.
enum class EndKind : std::uint32_t { unknown = 0, signal = 1, exit_code = 2, error = 3 };

/// What a rank does, or did last.
enum class Operation : std::uint32_t {
  none = 0,
  running,
  joining,
  allocating,
  putting,
  getting,
  notifying,
  waiting,
  in_barrier,
  releasing,
  leaving,
  in_collective
};
inline constexpr Operation kLastOperation = Operation::in_collective;

/// Text of fixed length in memory that others may read while it changes: words, so that a torn read is only odd text.
template <std::size_t Bytes>
struct SharedText {
  std::atomic<std::uint64_t> words[Bytes / 8];
};
using SharedName = SharedText<kNameBytes>;

/// What a parked rank waits for. `version` is odd while it is written: readers take it before and after, and discard
/// what changed in between.
struct WaitRecord {
  std::atomic<std::uint32_t> version;
  std::atomic<std::uint32_t> operation;  // Operation; none when the rank does not wait
  std::atomic<std::int64_t> since_ns;    // CLOCK_MONOTONIC
  std::atomic<std::uint64_t> index;  // signal index in the window, the epoch of a barrier, or the rank in a collective
  std::atomic<std::int32_t> comparison;  // WaitCmp
  std::atomic<std::int32_t> needs;
  SharedName object;                  // the name of the window, of a buffer in it, or of the domain
  std::atomic<std::uint32_t> traits;  // WaitTraits
  std::uint32_t reserved;
  SharedName domain;                  // whose members can end the wait
  SharedText<kActorBytes> actor;      // the kernel and core that waits; empty: the program
  SharedText<kMembersBytes> members;  // of the domain: ranks of the job, as a device list
};

/// Bits of WaitRecord::traits.
enum WaitTraits : std::uint32_t {
  kWaitIsPatient = 1,     // it has the time that waits have by default, or more
  kWaitNamesBuffer = 2,   // `object` is a buffer of the domain's window
  kWaitKnowsMembers = 4,  // all of them are in `members`
};

/// A rank whose threads or cores wait at once has one for each, as far as they reach; the others are counted.
inline constexpr std::size_t kWaitRecords = 4;

/// A kernel of a rank's chip that has computed for long. A seqlock like WaitRecord.
struct KernelRecord {
  std::atomic<std::uint32_t> version;
  std::uint32_t reserved;
  std::atomic<std::int64_t> since_ns;  // CLOCK_MONOTONIC; 0: there is none
  SharedText<kActorBytes> what;        // the kernel, its task and its core
  SharedText<kPlaceBytes> where;       // in its source
};
/// Further ones are counted.
inline constexpr std::size_t kKernelRecords = 4;

/// The last signal a rank changed. For reports; its words may be of two different notifies.
struct NotifyRecord {
  std::atomic<std::uint64_t> window;  // window_tag() of its allocation
  std::atomic<std::uint32_t> target;  // rank of the job
  std::atomic<std::uint32_t> index;   // of the signal
  std::atomic<std::uint64_t> when;    // ticks (base/ticks.hpp); 0: there was none
};

struct alignas(kCacheLine) RankBlock {
  // Line 0: read by everyone who notifies this rank, written only when it parks or is rung.
  Doorbell doorbell;
  std::byte pad0[kCacheLine - sizeof(Doorbell)];
  // Line 1: the rank's life.
  std::atomic<std::uint32_t> state;  // RankState
  std::atomic<std::uint32_t> pid;
  std::atomic<std::uint64_t> start_time;  // field 22 of /proc/PID/stat: tells a process from a later one with its pid
  std::atomic<std::uint64_t> end;         // EndKind << 32 | value; 0 while unknown
  std::atomic<std::int64_t> ended_ns;     // CLOCK_MONOTONIC
  std::byte pad1[kCacheLine - 2 * 4 - 3 * 8];
  // Line 2 on: what it does. Written by the rank alone.
  std::atomic<std::uint32_t> activity;  // Operation
  std::atomic<std::uint32_t> activity_peer;
  std::atomic<std::uint64_t> barrier_epoch;  // the last barrier of the whole job it arrived at
  NotifyRecord last_notify;
  WaitRecord waits[kWaitRecords];
  /// Waits that no record was free for, and those of them that are not patient.
  std::atomic<std::uint32_t> unlisted_waits;
  std::atomic<std::uint32_t> unlisted_impatient;
  /// Messages that it has sent to other hosts, but for confirmations, and those of them that it has dealt with
  /// (comm/hosts_stillness.hpp). Counted before the first, and after the last that somebody does because of one.
  std::atomic<std::uint64_t> far_sent;
  std::atomic<std::uint64_t> far_done;
  std::byte pad2[24 * kCacheLine - 40 - sizeof(NotifyRecord) - kWaitRecords * sizeof(WaitRecord)];
  // Line 26 on: what its chip computes. Written by the thread that watches kernels.
  KernelRecord kernels[kKernelRecords];
  std::atomic<std::uint32_t> unlisted_kernels;
  std::byte pad3[16 * kCacheLine - 4 - kKernelRecords * sizeof(KernelRecord)];
  // Line 42 on: which of its signals were changed.
  ArrivalBoard arrivals;
  // Line 52 on: what it said when it ended with an error. Written by the rank alone, before its state.
  SharedText<kReasonBytes> reason;
  // Line 56: the name of its host, if that is another than the one of this segment; else empty. Written before its
  // state.
  SharedName host;
  // How many posts it has begun to send to other hosts, and how many of them need no waiting for any more: a rank that
  // leaves waits for those of its host (comm/path.hpp).
  std::atomic<std::uint64_t> posts;
  std::atomic<std::uint64_t> posts_done;
};
static_assert(sizeof(RankBlock) == 57 * kCacheLine);

struct alignas(kCacheLine) ControlHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t rank_count;
  std::uint64_t bytes;         // of the whole segment
  std::int64_t created_ns;     // CLOCK_REALTIME
  std::uint8_t token[16];      // random; names the job's mail sockets
  std::uint32_t in_process;    // 1: all ranks live in the process that holds the segment
  std::uint32_t one_doorbell;  // 1: `doorbell` wakes every rank; 0: each has its own
  std::uint32_t event_areas;   // one for each rank, or none if all ranks live in one process
  std::uint32_t ranks_here;    // how many of the ranks are of this host: all, unless the job is on several

  // A line of its own: grows by one whenever a rank dies or leaves; every waiter compares it with what it saw last.
  std::atomic<std::uint32_t> changes;
  std::uint32_t processors;                 // how many of the ranks can run at once
  std::atomic<std::uint64_t> window_bytes;  // promised to the windows of this job that are alive
  std::atomic<std::int64_t> told_ns;        // when a rank last told at its deadline what all wait for; CLOCK_MONOTONIC
  std::atomic<std::uint64_t> told_waits;    // a hash of the waits in which all ranks slept when that was told last
  std::atomic<std::int64_t> looker;         // since when a rank looks whether all sleep for good; 0: none does
  std::byte pad1[kCacheLine - 2 * 4 - 4 * 8];
  SharedName name;  // the rendezvous name
  std::byte pad2[kCacheLine - sizeof(SharedName)];
  Doorbell doorbell;  // of all ranks, if one_doorbell
  std::byte pad3[kCacheLine - sizeof(Doorbell)];
  BarrierWords barrier;  // of the domain of all ranks
};
static_assert(offsetof(ControlHeader, changes) == 64);
static_assert(offsetof(ControlHeader, name) == 128);
static_assert(offsetof(ControlHeader, doorbell) == 192);
static_assert(offsetof(ControlHeader, barrier) == 256);

[[nodiscard]] constexpr std::size_t control_bytes(std::size_t ranks, std::size_t event_areas) noexcept {
  return sizeof(ControlHeader) + ranks * sizeof(RankBlock) + event_areas * sizeof(EventArea);
}

/// The block of `rank`; the caller has checked the header.
[[nodiscard]] inline RankBlock& rank_block(ControlHeader& header, std::size_t rank) noexcept {
  return reinterpret_cast<RankBlock*>(&header + 1)[rank];
}
[[nodiscard]] inline const RankBlock& rank_block(const ControlHeader& header, std::size_t rank) noexcept {
  return reinterpret_cast<const RankBlock*>(&header + 1)[rank];
}

/// Where the process that is `rank` leaves its last events; null if there is no such place. The caller has checked the
/// header.
[[nodiscard]] inline EventArea* event_area(ControlHeader& header, std::size_t rank) noexcept {
  if (rank >= header.event_areas) return nullptr;
  return reinterpret_cast<EventArea*>(&rank_block(header, header.rank_count)) + rank;
}
[[nodiscard]] inline const EventArea* event_area(const ControlHeader& header, std::size_t rank) noexcept {
  if (rank >= header.event_areas) return nullptr;
  return reinterpret_cast<const EventArea*>(&rank_block(header, header.rank_count)) + rank;
}

/// Whom to ring when something changed that `rank` may wait for.
[[nodiscard]] inline Doorbell& doorbell_of(ControlHeader& header, std::size_t rank) noexcept {
  return header.one_doorbell != 0 ? header.doorbell : rank_block(header, rank).doorbell;
}

/// Why `bytes` at `memory` are no control segment this version can read, or nullptr if they are.
[[nodiscard]] const char* control_defect(const void* memory, std::size_t bytes) noexcept;

}  // namespace baton::wire
